import type { Feature } from "../../core/listener.js";
import { type Listed, listed } from "../../mcp_server/paged-list.js";
import { inBuild } from "../../platform/in-build.js";
import type { HardwareTool } from "../../tools/define-tool.js";
import type { Hardware } from "../hardware.js";
import { PART_KINDS } from "../kinds/index.js";
import { addParts, type DeviceDefinition } from "./device.js";

/** The parts of the module `device`, if the build has one. */
export default {
	name: "parts",
	start(app) {
		const device = inBuild<DeviceDefinition>(DEVICE);
		if (device === undefined) {
			return;
		}
		if (typeof device.parts !== "object") {
			throw new TypeError("the module device: expected export default device({ parts: { … } })");
		}
		const { timer, ticks, log } = app;
		app.listen(addParts(app.board, device, { load: loadModule, bus: busOf, timer, ticks, log }));
		app.tools = withPartNames(app.tools, app.board);
	},
} satisfies Feature;

/** The module that defines a device of one's own: a manifest names it so. */
const DEVICE = "device";

/** @throws Error if the build lacks the module */
const loadModule = <Export>(name: string): Export => {
	const module = inBuild<Export>(name);
	if (module === undefined) {
		throw new Error(`this build has no module ${name}: its manifest is not included`);
	}
	return module;
};

/** The I2C bus of the target: its pins, port and the like. @throws Error if it has none of this name */
const busOf = (name: string): object => {
	// A bare chip has no provider of buses.
	const { I2C = {} } = (typeof device === "undefined" ? {} : device) as {
		readonly I2C?: Readonly<Record<string, object>>;
	};
	const bus = I2C[name];
	if (bus === undefined) {
		const have = Object.keys(I2C).join(", ") || "none";
		throw new Error(`bus: the target has ${have}, not ${JSON.stringify(name)}: name its pins, { data: 21, clock: 22 }`);
	}
	return bus;
};

/** Members of a tool's list entry that change. */
interface Entry {
	readonly inputSchema: { readonly properties: Record<string, { enum?: readonly string[]; maxLength?: number }> };
}

/**
 * The tools, whose arguments that name a part say which parts the device has: a model need not ask for them first. Tools
 * without such an argument, or without parts, stay in flash.
 */
const withPartNames = (tools: readonly HardwareTool[], hardware: Hardware): readonly HardwareTool[] =>
	tools.map((tool) => {
		const kind = PART_KINDS.find((each) => each.tool?.name === tool.name);
		const names = Object.keys((kind && hardware[kind.plural]) ?? {});
		return kind?.tool === undefined || names.length === 0 ? tool : named(tool, kind.tool.part, names);
	});

const named = (tool: HardwareTool, argument: string, names: readonly string[]): HardwareTool => ({
	...tool,
	...relisted(tool, argument, names),
	plain: relisted(tool.plain, argument, names),
	members: tool.members.map((member) =>
		member.name === argument ? { ...member, schema: { ...member.schema, enum: names } } : member,
	),
});

/** The entry is read, since XS cannot write JSON of objects in flash. */
const relisted = ({ key, entry }: Listed, argument: string, names: readonly string[]): Listed => {
	const members = JSON.parse(String.fromArrayBuffer(entry)) as Entry;
	const property = members.inputSchema.properties[argument] ?? {};
	delete property.maxLength;
	property.enum = names;
	return listed(key, members);
};
