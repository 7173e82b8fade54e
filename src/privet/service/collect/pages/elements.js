// Elements of a page. Names and categories come from files of others: they are set as text, never as markup.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Show one of the sections and hide the others; the focus goes to its heading. */
export function showSection(id, sections) {
  for (const name of sections) byId(name).hidden = name !== id;
  document.querySelectorAll(".steps li").forEach((mark, i) => mark.classList.toggle("done", i <= sections.indexOf(id)));
  tell("");
  byId(`${id}-title`).focus();
  scrollTo(0, 0);
}

/** Put a message where screen readers read it at once. */
export function tell(message) {
  const place = byId("messages");
  place.textContent = message;
  if (message) place.scrollIntoView({ block: "nearest" });
}

/** Offer a text as a file. */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Return the SHA-256 fingerprint of bytes, in hexadecimal. */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return a fingerprint in groups of four, for people to compare. */
export function inGroups(hash) {
  return hash.replace(/(.{4})(?=.)/g, "$1 ");
}
