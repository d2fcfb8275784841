import { isObject } from "../../core/text/json.js";
import { type Params, RpcError } from "../json-rpc.js";
import type { ToolCall } from "../tool-call.js";
import { findFeature } from "./feature-server.js";

/** A question of a tool, resource or prompt to the calling client. */
export interface Question<T = unknown> {
	/** Identifies it among the questions of the call. Default: "q1", "q2", … in the order of asking. */
	readonly key: string | undefined;
	readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
	readonly params: object;
	/** The capability that the client must have declared, and its mode, if any. */
	readonly capability: string;
	readonly mode: string | undefined;
	/** Names of the answer's members that are read. */
	readonly names: readonly string[];

	/** @throws Error if the answer is not valid */
	read(answer: Params): T;
}

/** Asks the clients of a session. */
export abstract class Asking {
	/** Resolves with the client's answer. Rejects if the call is cancelled or the client cannot answer. */
	abstract ask<T>(call: ToolCall, question: Question<T>): Promise<T>;
}

/** The error code for a capability that the client has not declared, since 2026-07-28. */
const MISSING_CAPABILITY = -32021;

/**
 * Asks the calling client. A session of 2026-07-28 takes the question itself; older ones need the feature
 * `ClientRequests`.
 *
 * @throws RpcError, Error if the client does not support the question
 * @throws CallCancelled if the call is cancelled first
 */
export const ask = async <T>(call: ToolCall, question: Question<T>): Promise<T> => {
	const { session, client } = call;
	const isStateless = session.revision >= "2026-07-28";
	const own = "ask" in session ? (session as Asking & typeof session) : undefined;
	const asking = isStateless ? own : findFeature(call, Asking);
	if (asking === undefined) {
		throw new Error(`this device cannot send requests to a client of MCP ${session.revision}`);
	}
	if (!isDeclared(client.capabilities[question.capability], question)) {
		throw missingCapability(question, isStateless);
	}
	return await asking.ask(call, question);
};

/** A client that declares elicitation without naming a mode supports forms. */
const isDeclared = (declared: unknown, { mode }: Question): boolean => {
	if (!isObject(declared)) {
		return false;
	}
	const hasMode = (name: string): boolean => (declared[name] ?? null) !== null;
	return mode === undefined || hasMode(mode) || (mode === "form" && !hasMode("url"));
};

const missingCapability = ({ capability, mode }: Question, isStateless: boolean): Error => {
	const words = `the client has not declared the capability ${capability}${mode === undefined ? "" : `.${mode}`}`;
	const requiredCapabilities = { [capability]: mode === undefined ? {} : { [mode]: {} } };
	return isStateless ? new RpcError(MISSING_CAPABILITY, words, { requiredCapabilities }) : new Error(words);
};
