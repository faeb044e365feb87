// The whole of castell in one page: people randomise with the client's own module, and the table is
// taken back out of their reports. Nothing is sent anywhere.

import { randomize } from "./client/sampler.js";
import { parseStudy } from "./client/study.js";

const here = new URL(".", import.meta.url);
const form = document.querySelector("#demo");
const own = form.querySelector("[data-own]");
const results = form.querySelector("[data-results]");
const status = form.querySelector("[data-status]");
const text = async (name) => (await fetch(new URL(name, here))).text();
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** The study of the epsilon chosen, checked by the client as a device checks it. */
const study = async () => parseStudy(await text(`study-${form.epsilon.value}.json`));

/** The inverse of k-ary response, squared or not, along the rows of a table. */
function invert(table, { total, weight, inputs }, power) {
  const [same, other] = [weight(0, 0), weight(0, 1)];
  const gap = same - other;
  const [kept, taken] = [(total - other) / gap, -other / gap].map((entry) => entry ** power);
  return table.map((_, i) =>
    table[0].map((_, j) => {
      let sum = 0;
      for (let k = 0; k < inputs; k++) sum += table[k][j] * (k === i ? kept : taken);
      return sum;
    }),
  );
}

const transpose = (table) => table[0].map((_, j) => table.map((row) => row[j]));

/** Both axes, one after the other: the inverse of the Kronecker product, which is never built. */
function takenOut(table, [first, second], power = 1) {
  return transpose(invert(transpose(invert(table, first, power)), second, power));
}

async function askOne() {
  const { attributes, blocks, epsilon } = await study();
  const said = attributes.map(({ values }, i) => {
    const answer = values.indexOf(form.elements[`answer-${i}`].value);
    return values[randomize(blocks[i].channel, answer)];
  });
  own.textContent =
    `What would leave this device: ${said.join(" and ")}. ` +
    `Epsilon ${epsilon.toFixed(2)} in all. Press again: a device sends the first one only.`;
}

async function askAll() {
  const { attributes, blocks } = await study();
  const { people, table } = JSON.parse(await text("people.json"));
  const channels = blocks.map(({ channel }) => channel);
  const reports = table.map((row) => row.map(() => 0));
  table.forEach((row, a) =>
    row.forEach((count, b) => {
      for (let i = 0; i < count; i++) {
        reports[randomize(channels[0], a)][randomize(channels[1], b)] += 1 / people;
      }
    }),
  );
  const estimate = takenOut(reports, channels);
  const square = takenOut(reports, channels, 2);
  results.replaceChildren();
  table.forEach((row, a) =>
    row.forEach((count, b) => {
      const error = Math.sqrt(Math.max(0, square[a][b] - estimate[a][b] ** 2) / people);
      const cells = [
        `${attributes[0].values[a]}, ${attributes[1].values[b]}`,
        percent(reports[a][b]),
        `${(100 * estimate[a][b]).toFixed(1)} ± ${percent(1.96 * error)}`,
        percent(count / people),
      ];
      const line = results.insertRow();
      cells.forEach((said, i) => {
        const cell = i ? line.insertCell() : line.appendChild(document.createElement("th"));
        if (!i) cell.scope = "row";
        cell.textContent = said;
      });
    }),
  );
  status.textContent = `${people.toLocaleString("en")} people were randomised in this browser.`;
}

form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("[data-ask-one]").addEventListener("click", askOne);
form.querySelector("[data-ask-all]").addEventListener("click", askAll);
await askAll();
