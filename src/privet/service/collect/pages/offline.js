// What served.js is to the page on a server, for the page in a file: nothing is asked for, nothing can be sent, and there
// is no model.

import { byId, sha256 } from "./page.js";

export const needsLink = false;

/** Return the study that the file was made of. */
export async function fetchStudy() {
  const { study, channel, texts } = JSON.parse(byId("offline-data").textContent);
  const channelHash = await sha256(new TextEncoder().encode(channel));
  return { study, texts, channelHash, channel: JSON.parse(channel) };
}

/** Return the report as the text to hand over: the body that a page on a server would post. */
export async function sendReport({ token, reportId, answers }) {
  return { handOver: JSON.stringify({ ...(token ? { token } : {}), report_id: reportId, answers }) };
}

/** Return the fingerprint of the only script. */
export function scriptFingerprint() {
  return sha256(new TextEncoder().encode(byId("offline-script").textContent));
}

export function connectModel() {
  return () => {};
}
