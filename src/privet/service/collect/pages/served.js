// All that the page asks its server for. API.md beside the server says what it answers.

import { sha256 } from "./elements.js";

export const needsLink = true;
const TRIES = 3;
const PAUSE = 1500;

/** Return the study, the channel with its fingerprint, and the texts of the page by language. */
export async function fetchStudy(languages) {
  const [study, channelBytes, ...texts] = await Promise.all([
    fetched("study.json").then((reply) => reply.json()),
    fetched("channel.json").then((reply) => reply.arrayBuffer()),
    ...languages.map((language) => fetched(`texts/${language}.json`).then((reply) => reply.json())),
  ]);
  return {
    study,
    channel: JSON.parse(new TextDecoder().decode(channelBytes)),
    channelHash: await sha256(channelBytes),
    texts: Object.fromEntries(languages.map((language, i) => [language, texts[i]])),
  };
}

async function fetched(name) {
  const reply = await fetch(name, { credentials: "omit", cache: "no-store" });
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return reply;
}

/**
 * Send a report. It is repeated as it is while the network fails, so that it arrives at most once. Return its receipt,
 * or the code of what went wrong, and whether the same report may be sent once more.
 */
export async function sendReport({ token, reportId, answers }, pause = wait) {
  const body = JSON.stringify({ token, report_id: reportId, answers });
  for (let tried = 1; ; tried += 1) {
    try {
      return await posted(body);
    } catch {
      if (tried === TRIES) return { error: "network", mayRepeat: true };
      await pause(PAUSE * tried);
    }
  }
}

async function posted(body) {
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch("answers", { method: "POST", body, headers, credentials: "omit" });
  const told = await reply.json();
  if (reply.ok) return { receipt: told.receipt };
  return { error: told.error, message: told.message, mayRepeat: reply.status === 429 || reply.status >= 500 };
}

function wait(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Return one fingerprint of all scripts of the page: that of the list which `sha256sum` prints of them, by name. */
export async function scriptFingerprint() {
  const names = [...document.querySelectorAll("link[rel=modulepreload], script[src]")]
    .map((own) => own.getAttribute("href") ?? own.getAttribute("src"))
    .sort();
  const bytes = await Promise.all(names.map((name) => fetched(name).then((reply) => reply.arrayBuffer())));
  const hashes = await Promise.all(bytes.map(sha256));
  return sha256(new TextEncoder().encode(names.map((name, i) => `${hashes[i]}  ${name}\n`).join("")));
}

/** Load the published model: its script is asked for once, and runs only if it is what was hashed. */
export async function loadModel() {
  const bytes = await (await fetched("model.js")).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const script = document.createElement("script");
  script.integrity = `sha256-${btoa(String.fromCharCode(...digest))}`;
  script.src = "model.js";
  await new Promise((done, failed) => {
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(script);
  });
  return globalThis.privet;
}
