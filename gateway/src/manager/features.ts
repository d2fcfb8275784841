import {
	type GetPromptResult,
	isSpecType,
	type Prompt,
	type ReadResourceResult,
	type Resource,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Server } from "../servers/server.js";
import { ServerError } from "../servers/server-error.js";
import type { Session } from "../servers/session.js";

/** Pages of a list. More are a fault of the server's. */
const MAX_PAGES = 100;

const READ_RESULT = z.custom<ReadResourceResult>((value) => isSpecType.ReadResourceResult(value), "not a valid result");
const PROMPT_RESULT = z.custom<GetPromptResult>((value) => isSpecType.GetPromptResult(value), "not a valid result");
const PAGE = z.looseObject({ nextCursor: z.string().nullish() });

/** The resources of a server that is online; none if it has no such capability. */
export function resourcesOf(server: Server): Promise<Resource[]> {
	return listOf(server, "resources", (item) => isSpecType.Resource(item));
}

/** The prompts of a server that is online; none if it has no such capability. */
export function promptsOf(server: Server): Promise<Prompt[]> {
	return listOf(server, "prompts", (item) => isSpecType.Prompt(item));
}

export function readResource(server: Server, uri: string): Promise<ReadResourceResult> {
	return sessionOf(server).ask("resources/read", { uri }, READ_RESULT);
}

export function getPrompt(server: Server, name: string, args: object): Promise<GetPromptResult> {
	return sessionOf(server).ask("prompts/get", { name, arguments: args }, PROMPT_RESULT);
}

async function listOf<T>(
	server: Server,
	list: "resources" | "prompts",
	isValid: (item: unknown) => boolean,
): Promise<T[]> {
	const session = sessionOf(server);
	const items: T[] = [];
	let cursor: string | undefined;
	if (session.capabilities[list] === undefined) {
		return items;
	}
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const result = await session.ask(`${list}/list`, cursor === undefined ? {} : { cursor }, PAGE);
		items.push(...((result[list] ?? []) as T[]).filter(isValid));
		cursor = result.nextCursor ?? undefined;
		if (cursor === undefined) {
			return items;
		}
	}
	throw new ServerError("bad-answer", `${list}/list: more than ${MAX_PAGES} pages`);
}

function sessionOf({ session, alias }: Server): Session {
	if (session === undefined) {
		throw new ServerError("device-away", `${alias} is offline`);
	}
	return session;
}
