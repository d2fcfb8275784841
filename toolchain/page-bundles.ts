/**
 * The folder of the console's bundle, made if its sources have changed: for gateways that are not started from a bundle. Not
 * imported by name: what is bundled together with this must not contain the bundler.
 */
export async function bundleConsole(): Promise<string> {
	const { cachedConsoleBundle } = await import(new URL("bundle.mjs", import.meta.url).href);
	return await cachedConsoleBundle();
}

/** The same of a virtual device's page. */
export async function bundleDevicePage(): Promise<string> {
	const { cachedDevicePageBundle } = await import(new URL("bundle.mjs", import.meta.url).href);
	return await cachedDevicePageBundle();
}
