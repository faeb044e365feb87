// The client against vectors/, in node and in a browser alike.

/**
 * @param {string} client where the modules are: a URL that ends in a slash
 * @param {{[name: string]: any[]}} vectors
 * @returns {Promise<{checked: number, failures: string[]}>}
 */
export async function checkVectors(client, vectors) {
  const load = (name) => import(`${client}${name}.js`);
  const { canonical, sha256 } = await load("canonical");
  const { channelOf } = await load("channel");
  const { drawBelow, numberBelow, randomize } = await load("sampler");
  const { codeOf } = await load("scale");
  const { parseStudy } = await load("study");
  const { labelledWords } = await load("memo");
  const { blocksAsked, bodyOf, makeReport, readCodes } = await load("report");
  const { statementOf } = await load("exposure");
  const { Refusal } = await load("refusal");
  const { keptFor, settle, spend } = await load("ledger");
  const { reportOf } = await load("respondent");
  const { memoryStore } = await load("store");

  let checked = 0;
  const failures = [];
  const same = (what, found, wanted) => {
    checked += 1;
    const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (left !== right) failures.push(`${what}: ${left} instead of ${right}`);
  };
  // Never below the true loss, and above it by next to nothing.
  const loss = (what, found, wanted) => {
    const fits = found >= wanted && found < wanted + 1e-12;
    same(what, fits || `${found} for ${wanted}`, true);
  };
  // The same up to the last bits, which depend on the order of adding up.
  const near = (what, found, wanted) => {
    const fits = Math.abs(found - wanted) <= 1e-14 * wanted;
    same(what, fits || `${found} for ${wanted}`, true);
  };
  const refused = async (what, work) => {
    try {
      await work();
      same(what, "taken", "refused");
    } catch (error) {
      same(what, error instanceof Refusal ? "refused" : String(error), "refused");
    }
  };
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  const kind = { name: "HMAC", hash: "SHA-256" };
  const keyOf = (hex) => crypto.subtle.importKey("raw", bytes(hex), kind, false, ["sign"]);

  for (const { value, text, sha256: digest } of vectors.canonical) {
    same("canonical", canonical(value), text);
    same("sha256", await sha256(text), digest);
  }
  for (const {
    name,
    channel: document,
    inputs,
    outputs,
    total,
    epsilon,
    cases,
  } of vectors.channels) {
    const channel = channelOf(document);
    same(name, [channel.inputs, channel.outputs, channel.total], [inputs, outputs, total]);
    loss(`${name}: epsilon`, channel.epsilon, epsilon);
    for (const [answer, words, report] of cases) {
      const what = `${name}: ${answer} ${words}`;
      const given = words.map(BigInt);
      same(
        what,
        randomize(channel, answer, () => given.shift()),
        report,
      );
      same(`${what}: words left`, given.length, 0);
      const numbers = words.map((word) => numberBelow(total, BigInt(word)));
      same(
        `${what}: thrown away`,
        numbers.map((n) => n === undefined),
        words.map((_, i) => i + 1 < words.length),
      );
      const again = words.map(BigInt);
      same(
        `${what}: number`,
        drawBelow(total, () => again.shift()),
        numbers.at(-1),
      );
    }
  }
  for (const { name, channel } of vectors.broken_channels) {
    await refused(name, () => channelOf(channel));
  }
  for (const { scale, cases } of vectors.scales) {
    for (const [text, chance, code] of cases) {
      same(`${JSON.stringify(scale)}: ${text} ${chance}`, codeOf(scale, text, chance), code);
    }
  }
  for (const { name, text, digest, widths, epsilon } of vectors.studies) {
    const study = await parseStudy(text);
    same(name, [study.digest, study.widths], [digest, widths]);
    loss(`${name}: epsilon`, study.epsilon, epsilon);
  }
  for (const { name, study: text, statement: wanted } of vectors.statements) {
    const found = statementOf(await parseStudy(text));
    same(`${name}: telling block`, found.tellingBlock, wanted.telling_block);
    near(`${name}: all if drawn`, found.allGuessedIfDrawn, wanted.all_guessed_if_drawn);
    near(`${name}: by chance if drawn`, found.allByChanceIfDrawn, wanted.all_by_chance_if_drawn);
    near(`${name}: all`, found.allGuessed, wanted.all_guessed);
    near(`${name}: all by chance`, found.allByChance, wanted.all_by_chance);
    same(`${name}: attributes`, found.attributes.length, wanted.attributes.length);
    wanted.attributes.forEach((attribute, i) => {
      const one = found.attributes[i];
      same(`${name}: name`, one.name, attribute.name);
      near(`${name}: chance`, one.chance, attribute.by_chance);
      near(`${name}: best guess`, one.bestGuess, attribute.best_guess_if_drawn);
      near(`${name}: least guess`, one.leastGuess, attribute.least_guess_if_drawn);
      near(`${name}: over the draw`, one.bestGuessOverDraw, attribute.best_guess_over_draw);
      near(`${name}: worst guess`, one.worstGuess, attribute.worst_guess);
      near(`${name}: asked`, one.holders / one.draws, attribute.chance_drawn);
    });
  }
  for (const { name, text } of vectors.broken_studies) {
    await refused(name, () => parseStudy(text));
  }
  for (const { name, seen: one, then: other, same_study, same_words } of vectors.stages) {
    const [seen, then] = [await parseStudy(one), await parseStudy(other)];
    same(`${name}: study`, seen.identity === then.identity, same_study);
    same(`${name}: words`, seen.wordings.at(-1) === then.wordings.at(-1), same_words);
    const store = memoryStore();
    await spend(store, seen, { id: "first", study: seen.digest, codes: [0] });
    const { sent } = await keptFor(store, then.identity);
    same(`${name}: reported`, sent !== undefined, same_study);
    const second = { id: "second", study: then.digest, codes: [0] };
    if (same_study) await refused(`${name}: twice`, () => spend(store, then, second));
  }
  for (const { key, label, words } of vectors.words) {
    const next = labelledWords(await keyOf(key), label);
    for (const word of words) same(`words of ${label}`, `0x${(await next()).toString(16)}`, word);
  }
  for (const vector of vectors.reports) {
    const study = await parseStudy(vector.study);
    const key = await keyOf(vector.key);
    same(`${vector.name}: asked`, await blocksAsked(study, key), vector.asked);
    const report = await makeReport(study, vector.answers, key);
    same(vector.name, [report.study, report.codes], [study.digest, vector.codes]);
    same(`${vector.name}: body`, bodyOf({ ...report, id: vector.id }), vector.body);
    same(
      `${vector.name}: read`,
      readCodes(study, report.codes).map(({ block }) => block),
      vector.asked,
    );
    await refused(`${vector.name}: an answer missing`, () => makeReport(study, {}, key));
    await refused(`${vector.name}: codes too large`, () => readCodes(study, study.widths));
    await refused(`${vector.name}: a code too many`, () => readCodes(study, [...report.codes, 0]));
  }
  for (const { name, study: text, key, steps } of vectors.standing) {
    const study = await parseStudy(text);
    const store = memoryStore();
    const kept = { key: await keyOf(key) };
    await store.update(`study:${study.identity}`, () => kept);
    const state = async () => (await keptFor(store, study.identity)).sent?.state ?? null;
    for (const [at, step] of steps.entries()) {
      const what = `${name}: step ${at}`;
      if (step.make) {
        same(what, (await reportOf(store, study, step.make)).codes, step.codes);
      } else if (step.settle) {
        const [id, became] = step.settle;
        await settle(store, study, { id, study: study.digest, codes: [] }, became);
        same(what, await state(), step.state);
      } else {
        const [id, codes] = step.spend;
        const report = { id, study: study.digest, codes };
        if (step.state === "refused") await refused(what, () => spend(store, study, report));
        else same(what, (await spend(store, study, report)).state, step.state);
      }
    }
    await refused(`${name}: no answers`, () => reportOf(store, study, {}));
  }
  return { checked, failures };
}
