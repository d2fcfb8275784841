import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type Skill, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import * as z from "zod";
import type { Catalog } from "../catalog/catalog.js";
import { SKILL_NAME, skillText } from "../catalog/skill-text.js";
import { type Method, method } from "./client-request.js";

/** The extension of SEP-2640. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

const SKILL_PATH = `xs-mcp/${SKILL_NAME}`;

/** The only skill, and its only file. */
const SKILL_URI = `skill://${SKILL_PATH}/SKILL.md`;

const LIST = z.looseObject({ cursor: z.string().optional() });
const GET = z.looseObject({ uri: z.string().max(2_048) });

/** The methods of SEP-2640. */
export const SKILL_METHODS: Readonly<Record<string, Method>> = {
	"skills/list": method(LIST, async ({ cursor }, { client }) => {
		if (cursor !== undefined && cursor !== "") {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list has one page");
		}
		return { skills: [await entryOf(client.catalog)], ...client.caching };
	}),
	"skills/get": method(GET, async ({ uri }, { client }) => {
		if (uri !== SKILL_URI) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri}`, { uri });
		}
		return { skill: await entryOf(client.catalog), ...client.caching };
	}),
};

/** The skill's file as a resource; undefined for other URIs. */
export function readSkill(catalog: Catalog, uri: string) {
	return uri === SKILL_URI ? { uri, mimeType: "text/markdown", text: skillText(catalog) } : undefined;
}

async function entryOf(catalog: Catalog): Promise<Skill> {
	return await skillEntry(SKILL_PATH, { "SKILL.md": skillText(catalog) });
}
