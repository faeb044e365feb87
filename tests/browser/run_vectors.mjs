// node run_vectors.mjs: the client against vectors/ without a browser.

import { readdir, readFile } from "node:fs/promises";
import { checkVectors } from "./vectors.mjs";

const folder = new URL("../../vectors/", import.meta.url);
const vectors = {};
for (const file of await readdir(folder)) {
  vectors[file.replace(/\.json$/, "")] = JSON.parse(await readFile(new URL(file, folder), "utf-8"));
}
const { checked, failures } = await checkVectors(
  new URL("../../client/", import.meta.url).href,
  vectors,
);
console.log(JSON.stringify({ checked, failures }));
process.exitCode = failures.length > 0 || checked < 1000 ? 1 : 0;
