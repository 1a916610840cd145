// Runs in every frame before its own scripts. What the wall refuses anyway fails here at once and without a trace, in the
// way that pages expect: a search engine's browser has none of it, either. This is comfort, and no part of the wall.
(() => {
  "use strict";
  const put = (object, name, value) => {
    try {
      Object.defineProperty(object, name, { value, writable: true, configurable: true });
    } catch {}
  };
  const hide = (object, name) => {
    try {
      delete object[name];
    } catch {}
  };
  const nothing = () => undefined;

  for (const name of ["alert", "print", "open", "close", "stop", "moveTo", "moveBy", "resizeTo", "resizeBy", "focus"]) {
    put(window, name, name === "open" ? () => null : nothing);
  }
  // There is no page to go back to: the others in the history of the tab are none of its business.
  for (const name of ["back", "forward", "go"]) put(History.prototype, name, nothing);
  Object.defineProperty(History.prototype, "length", { get: () => 1 });
  put(window, "confirm", () => false);
  put(window, "prompt", () => null);

  // A page asks whether these exist before it uses them.
  hide(Navigator.prototype, "serviceWorker");
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) {
    hide(window, name);
  }

  // These are used without a question, and fail as they do without a network.
  const unreachable = (states) => {
    const Unreachable = class extends EventTarget {
      constructor(url) {
        super();
        this.url = String(url);
        this.readyState = states.closed;
        setTimeout(() => {
          for (const name of states.events) {
            const event = new Event(name);
            if (typeof this["on" + name] === "function") this["on" + name](event);
            this.dispatchEvent(event);
          }
        }, 0);
      }
      send() {}
      close() {}
    };
    return Object.assign(Unreachable, { CONNECTING: 0, OPEN: 1, CLOSED: states.closed, CLOSING: 2 });
  };
  put(window, "WebSocket", unreachable({ closed: 3, events: ["error", "close"] }));
  put(window, "EventSource", unreachable({ closed: 2, events: ["error"] }));
  put(Navigator.prototype, "sendBeacon", () => true);

  // A click on it would begin a download, which looks like a move to another page.
  const isDownload = (target) => target instanceof Element && target.closest("a[download], area[download]") !== null;
  const click = HTMLElement.prototype.click;
  put(HTMLElement.prototype, "click", function () {
    if (this.isConnected || !isDownload(this)) click.call(this);
  });
  addEventListener("click", (event) => isDownload(event.composedPath()[0]) && event.preventDefault(), true);

  // The browser has none, but many pages ask it without a question whether it is there.
  if (!window.Notification) put(window, "Notification", class extends EventTarget { close() {} });
  put(Notification, "permission", "denied");
  put(Notification, "requestPermission", (answer) => {
    if (answer) answer("denied");
    return Promise.resolve("denied");
  });
  if (window.Geolocation) {
    const denied = (found, failed) => {
      if (failed) setTimeout(() => failed({ code: 1, message: "denied", PERMISSION_DENIED: 1 }), 0);
      return 0;
    };
    put(Geolocation.prototype, "getCurrentPosition", denied);
    put(Geolocation.prototype, "watchPosition", denied);
  }

  // The rest of what an earlier page in this tab may have left. Everything else is wiped from outside.
  if (window === window.top) {
    window.name = "";
    try {
      sessionStorage.clear();
    } catch {}
  }
})();
