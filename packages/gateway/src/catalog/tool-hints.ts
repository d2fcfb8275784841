import type { Tool } from "@modelcontextprotocol/server";
import type { ServerTool } from "xs-mcp-manager/core";
import type { ToolHint } from "../plugin.js";
import { GATEWAY_INFO, GATEWAY_TITLE } from "../version.js";
import { ICON_PATHS, type IconName } from "./icon-paths.js";

/** A tool of the family: its hint, its title, and whether it sends data to an external service. */
interface KnownTool {
	readonly hint: ToolHint;
	readonly title?: string;
	readonly openWorld?: true;
	readonly icon?: IconName;
}

const ANNOTATIONS = {
	reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
	sets: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
	acts: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
	destroys: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
} as const;

/** The tools of many boards of the family, by name; `*` matches anything. The first match counts. */
const FAMILY_TOOLS: readonly (readonly [pattern: string, known: KnownTool])[] = [
	["self.get_device_status", { hint: "reads", title: "Get device status", icon: "status" }],
	["self.get_system_info", { hint: "reads", title: "Get system information", icon: "chip" }],
	["self.audio_speaker.set_volume", { hint: "sets", title: "Set volume", icon: "sound" }],
	["self.screen.set_brightness", { hint: "sets", title: "Set brightness", icon: "screen" }],
	["self.screen.set_theme", { hint: "sets", title: "Set theme", icon: "screen" }],
	["self.screen.set_rotation", { hint: "sets", title: "Rotate screen", icon: "screen" }],
	["self.screen.snapshot", { hint: "reads", title: "Take screenshot", openWorld: true, icon: "screen" }],
	["self.screen.preview_image", { hint: "sets", title: "Show picture", openWorld: true, icon: "screen" }],
	["self.camera.take_photo", { hint: "acts", title: "Take photo", openWorld: true, icon: "camera" }],
	["self.camera.*_light", { hint: "sets", icon: "light" }],
	["self.reboot", { hint: "destroys", title: "Reboot", icon: "power" }],
	["self.upgrade_firmware", { hint: "destroys", title: "Upgrade firmware", openWorld: true, icon: "update" }],
	["self.assets.set_download_url", { hint: "destroys", title: "Set assets URL", icon: "update" }],
	["self.*.get_*", { hint: "reads" }],
	["self.get_*", { hint: "reads" }],
	["self.lamp.*", { hint: "sets", icon: "light" }],
	["self.light.*", { hint: "sets", icon: "light" }],
	["self.led_strip.*", { hint: "sets", icon: "light" }],
	["self.*.turn_on", { hint: "sets" }],
	["self.*.turn_off", { hint: "sets" }],
	["self.*.set_*", { hint: "sets" }],
	["self.dog.*", { hint: "acts" }],
	["self.chassis.*", { hint: "acts" }],
	["self.otto.*", { hint: "acts" }],
	["self.electron.*", { hint: "acts" }],
];

/**
 * Makes a function that adds missing hints to tools: those configured by name, else those of the family's known tools. Clients
 * assume that a tool without hints is destructive and reaches the internet: they confirm each call, or reject it.
 *
 * @param configured by the device's own name of the tool; `*` matches anything
 * @returns a function that returns a tool as clients list it, with hints, a title and an icon, and the same object for the same
 * tool. The tool's own values take precedence
 */
export function toolHints(configured: ReadonlyMap<string, ToolHint> = new Map()) {
	const own = [...configured].map(([pattern, hint]): readonly [string, KnownTool] => [pattern, { hint }]);
	const rules = [...own, ...FAMILY_TOOLS].map(([pattern, known]) => {
		const parts = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
		return [new RegExp(`^${parts.join(".*")}$`, "s"), known] as const;
	});
	const made = new WeakMap<object, object>();
	return <Tool extends Partial<ServerTool>>(ownName: string, tool: Tool): Tool => {
		if (!made.has(tool)) {
			const { hint, title, openWorld = false, icon } = rules.find(([pattern]) => pattern.test(ownName))?.[1] ?? {};
			const annotations = hint && { ...ANNOTATIONS[hint], openWorldHint: openWorld, ...tool.annotations };
			const icons = tool.icons ?? (icon && ICONS[icon]);
			made.set(tool, hint ? { ...tool, title: tool.title ?? title, annotations, icons } : tool);
		}
		return made.get(tool) as Tool;
	};
}

/**
 * Icons of tools and of the gateway (MCP, since 2025-11-25): about 230 bytes each, so that nothing has to be fetched.
 *
 * @internal exported for a test
 */
export const ICONS = Object.fromEntries(
	Object.entries(ICON_PATHS).map(([name, path]) => {
		const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="gray"><path d="${path}"/></svg>`;
		const src = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
		return [name, [{ src, mimeType: "image/svg+xml" }]];
	}),
) as unknown as Readonly<Record<IconName, NonNullable<Tool["icons"]>>>;

/** The gateway's description of itself for clients. Earlier revisions get less of it. */
export const SERVER_INFO = { ...GATEWAY_INFO, title: GATEWAY_TITLE, icons: [...ICONS.chip] };
