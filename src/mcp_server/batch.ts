import { PiecedText, type Sendable } from "../core/text/json.js";
import { type Answer, allowsBatches, invalidRequest, type Revision, type RpcError } from "./json-rpc.js";

const MAX_MESSAGES = 16;

/** @returns the error for a batch that cannot be answered */
export const batchError = (messages: readonly unknown[], revision: Revision): RpcError | undefined => {
	if (!allowsBatches(revision)) {
		return invalidRequest(`MCP ${revision} has no batches`);
	}
	if (messages.length === 0) {
		return invalidRequest("empty batch");
	}
	return messages.length > MAX_MESSAGES
		? invalidRequest(`batch of ${messages.length} messages (limit ${MAX_MESSAGES})`)
		: undefined;
};

/** @throws RpcError for a request that must not be in a batch, or whose answer has no room in it */
export const checkBatched = (method: string, room: number): void => {
	if (method === "initialize") {
		throw invalidRequest("initialize must not be part of a batch");
	}
	if (room <= 0) {
		throw invalidRequest("the batch response is full");
	}
};

/**
 * The answers in one array; none if no answer is due: https://www.jsonrpc.org/specification#batch §6
 *
 * @param bytes the room for the answers
 * @param answer answers one message, with the room that is left
 */
export const answerBatch = (
	messages: readonly unknown[],
	bytes: number,
	answer: (message: unknown, room: number) => Answer,
): string | undefined | Promise<string | undefined> => {
	let room = bytes;
	const answers = messages.map((message) => {
		const answered = answer(message, room);
		// Characters or bytes: an estimate is enough here.
		if (typeof answered === "string") {
			room -= answered.length;
		} else if (answered instanceof PiecedText) {
			room -= answered.bytes;
		}
		return answered;
	});
	return answers.some((each) => each instanceof Promise)
		? Promise.all(answers).then(join)
		: join(answers as (Sendable | undefined)[]);
};

const join = (answers: readonly (Sendable | undefined)[]): string | undefined => {
	const due = answers.filter((answer) => answer !== undefined);
	return due.length > 0 ? `[${due.join(",")}]` : undefined;
};
