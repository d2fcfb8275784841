import type { TestContext } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { bundleConsole } from "xs-mcp/build/page-bundles";
import type { Configuration } from "xs-mcp-gateway";
import { WireDevice, type WireDeviceOptions } from "xs-mcp-gateway/testing/gateway";
import { makeStateFolder, type StartedProgram, startProgram, tokensIn } from "xs-mcp-gateway/testing/program";
import { complaintsOf as allComplaintsOf, openPage } from "../host-test/support/chromium.js";

export interface StartedConsole extends StartedProgram {
	readonly secret: string;
}

export async function startWithConsole(
	t: TestContext,
	flags: Partial<Record<keyof Configuration, unknown>> = {},
	stateFolder?: string,
): Promise<StartedProgram> {
	return await startProgram(t, flags, stateFolder, { consoleFolder: await bundleConsole() });
}

export async function startConsole(
	t: TestContext,
	flags: Partial<Record<keyof Configuration, unknown>> = {},
): Promise<StartedConsole> {
	const stateFolder = makeStateFolder();
	const token = { name: "operator", kind: "client", operator: true } as const;
	const secret = await tokensIn(stateFolder).add(token);
	return { ...(await startWithConsole(t, flags, stateFolder)), secret };
}

/** Complaints of a page, but for answers that are errors, which the browser reports, too: those are part of the tests. */
export function complaintsOf(page: Page): readonly string[] {
	return allComplaintsOf(page).filter((said) => !said.startsWith("Failed to load resource"));
}

export async function openConsole(t: TestContext, base: string, options: BrowserContextOptions = {}): Promise<Page> {
	const page = await openPage(t, { locale: "en-GB", viewport: { width: 1280, height: 900 }, ...options });
	await page.goto(`${base}/#/devices`);
	return page;
}

export async function openSignedIn(
	t: TestContext,
	{ base, secret }: StartedConsole,
	options: BrowserContextOptions = {},
): Promise<Page> {
	const page = await openConsole(t, base, options);
	await page.locator("input[name=token]").fill(secret);
	await page.locator("button[type=submit]").click();
	await page.locator("nav").waitFor();
	return page;
}

export const LAMP = "aa:bb:cc:00:00:01";

export const VOLUME = {
	name: "self.audio_speaker.set_volume",
	title: "Set volume",
	description: "Set the volume.",
	inputSchema: {
		type: "object",
		properties: { volume: { type: "integer", minimum: 0, maximum: 100 } },
		required: ["volume"],
	},
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
};

export async function openWithDevice(
	t: TestContext,
	options: WireDeviceOptions = {},
	pageOptions: BrowserContextOptions = {},
	flags: Partial<Record<keyof Configuration, unknown>> = {},
) {
	const gateway = await startWithConsole(t, { userTools: ["*"], ...flags });
	const device = await WireDevice.connect(t, gateway, { id: LAMP, ...options });
	const page = await openConsole(t, gateway.base, pageOptions);
	return { gateway, device, page };
}
