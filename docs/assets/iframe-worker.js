// A page that was opened from a folder may start no worker, and the search is one: a hidden frame runs the same script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true });
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }));
      this.frame.srcdoc = "<!doctype html><title>worker</title>";
      document.body.append(this.frame);
      this.ready = this.loaded.then(() => this.run(url));
    }

    run(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = Object.assign(inside.document.createElement("script"), { src: url });
      return new Promise((resolve) => {
        script.addEventListener("load", resolve, { once: true });
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
