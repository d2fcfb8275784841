import type { Hardware } from "../hardware/hardware.js";
import { type Listed, listed } from "../mcp_server/paged-list.js";
import type { HardwareTool } from "../tools/define-tool.js";

/** The list entry of a tool, as far as it is changed. */
interface Entry {
	readonly inputSchema: { readonly properties: Record<string, { enum?: readonly string[]; maxLength?: number }> };
}

/**
 * The tools, whose arguments that name a part say which parts the device has: a model need not ask for them first. Tools
 * without such an argument, or without parts, stay in flash.
 */
export const withPartNames = (tools: readonly HardwareTool[], hardware: Hardware): readonly HardwareTool[] =>
	tools.map((tool) => {
		const names = tool.names && Object.keys(hardware[tool.names.part] ?? {});
		return tool.names === undefined || names === undefined || names.length === 0
			? tool
			: named(tool, tool.names.argument, names);
	});

const named = (tool: HardwareTool, argument: string, names: readonly string[]): HardwareTool => ({
	...tool,
	...relisted(tool, argument, names),
	plain: relisted(tool.plain, argument, names),
	input: {
		...tool.input,
		members: tool.input.members.map((member) => {
			const { schema } = member.validator;
			return member.name === argument ? { ...member, validator: { schema: { ...schema, enum: names } } } : member;
		}),
	},
});

/** The entry is read, since XS cannot write JSON of objects in flash. */
const relisted = ({ key, entry }: Listed, argument: string, names: readonly string[]): Listed => {
	const members = JSON.parse(String.fromArrayBuffer(entry)) as Entry;
	const property = members.inputSchema.properties[argument] ?? {};
	delete property.maxLength;
	property.enum = names;
	return listed(key, members);
};
