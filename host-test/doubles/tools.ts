import type { Hardware } from "../../src/hardware/hardware.js";
import { isOffered } from "../../src/hardware/needs.js";
import { findTools } from "../../src/platform/tools.js";
import { Client, type Wire } from "./client.js";

export const TOOLS = findTools();

export const clientOf = (board: Hardware): Client<Hardware> =>
	new Client<Hardware>({ context: board, tools: TOOLS.filter((tool) => isOffered(tool, board)) });

export async function callTool(client: Client<Hardware>, name: string, args: object = {}): Promise<Wire> {
	return (await client.request("tools/call", { name, arguments: args }))[0];
}

export const words = ({ result }: Wire): string => result.content[0].text;
