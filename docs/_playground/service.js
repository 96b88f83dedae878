/**
 * The service worker: answers from what was stored when this version of the page was loaded.
 *
 * `files.js`, which the build writes, says which version that is and what it consists of.
 */

importScripts("files.js");

const CACHE = `playground-${self.VERSION}`;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(self.FILES)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(discardOthers());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answer(event.request));
});

async function discardOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("playground-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function answer(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}
