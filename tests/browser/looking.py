"""What the tests of pages look at: contrast, what is cut off, pictures for the eye."""

import base64
from pathlib import Path

PICTURES = Path("build/browser")
# Contrast as WCAG 2 defines it, of every text that shows against the background it stands on.
CONTRAST = """
const luminance = ([r, g, b]) => {
  const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
};
const poor = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !element.getClientRects().length || element.closest("script")) continue;
  const style = getComputedStyle(element);
  const ink = rgba(element.closest("svg") ? style.fill : style.color);
  const [light, dark] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
  const ratio = (light + 0.05) / (dark + 0.05);
  if (ratio < 4.5) poor.push([walker.currentNode.textContent.trim().slice(0, 40), ratio]);
}
return poor;
"""

# Tables that must be scrolled to be read, and figures that run out of their boxes.
CUT_OFF = """
return [...document.querySelectorAll(".scroll, .figures div")].filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.textContent.slice(0, 80));
"""


def emulate(browser, *, media="screen", dark=False):
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})


def picture(browser, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    whole = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
    (PICTURES / f"{name}.png").write_bytes(base64.b64decode(data))


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")
