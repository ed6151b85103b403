// Replaces Worker on pages opened from a file, where browsers do not start workers. The worker's script runs in a hidden frame of the page.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const scope = this.frame.contentWindow;
      scope.document.open();
      scope.document.write("<!doctype html><title>worker</title>");
      scope.document.close();
      scope.postMessage = data => setTimeout(() => this.dispatchEvent(new MessageEvent("message", {data})));
      this.ready = new Promise(resolve => {
        const script = scope.document.createElement("script");
        script.src = url;
        script.onload = () => resolve(scope);
        scope.document.head.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(scope => setTimeout(() => scope.dispatchEvent(new scope.MessageEvent("message", {data}))));
    }
    terminate() {
      this.frame.remove();
    }
  };
