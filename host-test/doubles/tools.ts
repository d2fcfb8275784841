import type { Hardware } from "../../src/hardware/hardware.js";
import { isOffered } from "../../src/hardware/needs.js";
import { findTools } from "../../src/platform/tools.js";
import { Client, type Wire } from "./client.js";

/** Every tool of the firmware, in the order of the list. */
export const TOOLS = findTools();

/** A client of the tools that a board has. */
export const clientOf = (board: Hardware): Client<Hardware> =>
	new Client<Hardware>({ context: board, tools: TOOLS.filter((tool) => isOffered(tool, board)) });

/** Calls a tool that takes its time. */
export async function callTool(client: Client<Hardware>, name: string, args: object = {}): Promise<Wire> {
	return (await client.request("tools/call", { name, arguments: args }))[0];
}

/** The text of a call's only content. */
export const words = ({ result }: Wire): string => result.content[0].text;
