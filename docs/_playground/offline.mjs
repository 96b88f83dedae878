/** Once loaded, the page works without a network. */

if ("serviceWorker" in navigator) navigator.serviceWorker.register(new URL("service.js", import.meta.url));
