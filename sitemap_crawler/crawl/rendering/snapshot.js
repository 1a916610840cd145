// Functions for a world of their own in the page: its scripts can neither see nor change them.
({
  // A short text that stays the same while the page does not change what matters: elements, links, text, address.
  signature() {
    let links = 0;
    for (const link of document.links) links = (Math.imul(links, 31) + link.href.length) | 0;
    const body = document.body;
    return [
      location.href, document.title, document.getElementsByTagName("*").length, document.links.length, links,
      body ? body.textContent.length : 0,
    ].join("\n");
  },

  // The address of the document and its markup, with the content of open shadow roots in its place.
  snapshot(maxLength) {
    const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/;
    const RAW = /^(?:script|style|xmp|iframe|noembed|noframes|noscript|plaintext)$/;
    const text = (value) => value.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    const quoted = (value) => value.replace(/&/g, "&amp;").replace(/\u00a0/g, "&nbsp;").replace(/"/g, "&quot;");
    const hasShadow = () => {
      for (const element of document.querySelectorAll("*")) if (element.shadowRoot) return true;
      return false;
    };
    const flattened = () => {
      const out = [];
      let length = 0;
      const add = (part) => {
        out.push(part);
        length += part.length;
      };
      const children = (node) => {
        for (let child = node.firstChild; child && length < maxLength; child = child.nextSibling) write(child);
      };
      const write = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
          add(node.parentNode && RAW.test(node.parentNode.localName) ? node.data : text(node.data));
        } else if (node.nodeType === Node.COMMENT_NODE) {
          add(`<!--${node.data}-->`);
        } else if (node.nodeType === Node.ELEMENT_NODE) {
          if (node.localName === "template") {
            add(node.outerHTML);
            return;
          }
          const assigned = node.localName === "slot" && node.getRootNode() instanceof ShadowRoot ? node.assignedNodes() : null;
          if (assigned) {
            if (assigned.length) assigned.forEach(write);
            else children(node);
            return;
          }
          const attributes = Array.from(node.attributes, (one) => ` ${one.name}="${quoted(one.value)}"`);
          add(`<${node.localName}${attributes.join("")}>`);
          if (VOID.test(node.localName)) return;
          children(node.shadowRoot || node);
          add(`</${node.localName}>`);
        }
      };
      write(document.documentElement);
      return out.join("");
    };
    let html = null;
    if (document.documentElement) {
      if (hasShadow()) {
        try {
          html = flattened();
        } catch (error) {
          // Nested too deeply.
          if (!(error instanceof RangeError)) throw error;
        }
      }
      html = html ?? document.documentElement.outerHTML;
    }
    const type = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\n` : "";
    return { url: location.href, html: (type + (html ?? "")).slice(0, maxLength) };
  },
})
