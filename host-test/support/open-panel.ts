import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { build } from "esbuild";
import type { FrameLocator, Page } from "playwright-core";

export const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

const APPLICATION = fileURLToPath(new URL("panel-application.ts", import.meta.url));

const PLAIN = "<!doctype html><iframe sandbox='allow-scripts' style='width:100%;height:860px;border:0'></iframe>";

/** Shows the panel of a device next to its status, as an application does, with the extension's own host library. */
export async function openPanel(
	page: Page,
	client: Client,
	context: object,
): Promise<{ readonly panel: FrameLocator; readonly calls: readonly string[] }> {
	const { tools } = await client.listTools();
	const tool = tools.find(({ name }) => name.endsWith("get_device_status"));
	const uri = (tool?._meta?.ui as { resourceUri?: string } | undefined)?.resourceUri ?? "";
	const { contents } = await client.readResource({ uri });
	const [{ text = "" } = {}] = contents as { text?: string }[];
	const calls: string[] = [];
	await page.exposeFunction("callServer", async (params: { name: string; arguments: Record<string, unknown> }) => {
		calls.push(params.name);
		return await client.callTool(params);
	});
	await page.exposeFunction("readServer", (params: { uri: string }) => client.readResource(params));
	const { outputFiles } = await build({
		entryPoints: [APPLICATION],
		bundle: true,
		write: false,
		format: "iife",
		logLevel: "error",
	});
	await page.setContent(PLAIN);
	await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
	const result = await client.callTool({ name: tool?.name ?? "", arguments: {} });
	await page.evaluate(`showPanel(${JSON.stringify({ html: text, tool, result, context })})`);
	return { panel: page.frameLocator("iframe"), calls };
}
