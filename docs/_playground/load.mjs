/** The compiled engine, as it comes from beside the page. */

/**
 * It is stored compressed and inflated here, so that its size does not depend on the server.
 * @returns {Promise<() => any>} makes an instance and answers its exports
 */
export async function instances() {
  const stored = await fetch(new URL("sojourn.wasm.gz", import.meta.url));
  if (!stored.ok || !stored.body)
    throw new Error(`the engine could not be loaded: ${stored.status} ${stored.statusText}`);
  const inflated = stored.body.pipeThrough(new DecompressionStream("gzip"));
  const answer = new Response(inflated, { headers: { "content-type": "application/wasm" } });
  const module = await WebAssembly.compileStreaming(answer);
  return () => new WebAssembly.Instance(module, {}).exports;
}
