import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { LISTS, type ListName, NO_OFFERS, type Offers } from "../core/offers.js";
import type { Upstream } from "./upstream.js";

/** The lists of an upstream, as it has sent them last. A list that fails does not affect the others. */
export class UpstreamLists {
	readonly #upstream: Upstream;
	readonly #warn: (message: string) => void;
	#lists: Partial<Offers> = {};
	/** Why lists could not be read at the last attempt. */
	readonly #failures = new Map<ListName, Error>();
	/** What was left out of lists, once it was reported. */
	readonly #problems = new Set<string>();
	/** Why the upstream could not be reached at the last attempt; empty if it was. */
	#trouble = "";
	/** The lists that are being read. Never rejects. */
	readonly #reading = new Map<ListName, Promise<void>>();

	/** @param warn called if a list cannot be read, or the upstream cannot be reached: once for each reason */
	constructor(upstream: Upstream, warn: (message: string) => void) {
		this.#upstream = upstream;
		this.#warn = warn;
	}

	/** A list, as it was read last; undefined if it never was. */
	get<List extends ListName>(list: List): Offers[List] | undefined {
		return this.#lists[list];
	}

	/** The same; empty if the upstream does not know the method. @throws ProtocolError if it was never read */
	expect<List extends ListName>(list: List): Offers[List] {
		const items = this.#lists[list];
		const failure = this.#failures.get(list);
		if (items === undefined && failure !== undefined) {
			const code = ProtocolError.isInstance(failure) ? failure.code : ProtocolErrorCode.InternalError;
			throw new ProtocolError(code, textOf(list, failure));
		}
		if (items === undefined && this.#trouble !== "") {
			throw new ProtocolError(ProtocolErrorCode.InternalError, `the upstream cannot be reached: ${this.#trouble}`);
		}
		return items ?? NO_OFFERS[list];
	}

	/**
	 * Reads a list. Settles when it was read, or has failed. Never rejects.
	 *
	 * @param others read as well, unless they are being read: one connection serves for all
	 */
	async refresh(list: ListName, others: readonly ListName[] = []): Promise<void> {
		if (!this.#reading.has(list)) {
			const lists = [list, ...others].filter((each, at, all) => all.indexOf(each) === at && !this.#reading.has(each));
			const answers = this.#upstream.list(lists);
			for (const each of lists) {
				this.#reading.set(
					each,
					this.#read(each, answers).finally(() => this.#reading.delete(each)),
				);
			}
		}
		await this.#reading.get(list);
	}

	async #read(list: ListName, answers: ReturnType<Upstream["list"]>): Promise<void> {
		let answer: Awaited<ReturnType<Upstream["list"]>>;
		try {
			answer = await answers;
			this.#trouble = "";
		} catch (error) {
			const { message } = error as Error;
			if (message !== this.#trouble) {
				this.#trouble = message;
				this.#warn(`the lists of the upstream cannot be read: ${message}`);
			}
			return;
		}
		const listed = await answer.get(list);
		if (listed !== undefined && "items" in listed) {
			this.#failures.delete(list);
			this.#lists = { ...this.#lists, [list]: listed.items };
			for (const problem of listed.problems.filter((each) => !this.#problems.has(each))) {
				this.#problems.add(problem);
				this.#warn(`${LISTS[list].method} of the upstream: ${problem}`);
			}
		} else if (listed !== undefined) {
			this.#failed(list, listed.error);
		}
	}

	#failed(list: ListName, error: Error): void {
		if (textOf(list, error) !== textOf(list, this.#failures.get(list))) {
			this.#warn(`${textOf(list, error)}; the other lists are not affected`);
		}
		this.#failures.set(list, error);
		// Templates are optional for a server with resources, and some others declare more than they have.
		if (list !== "tools" && ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.MethodNotFound) {
			this.#lists = { ...this.#lists, [list]: [] };
		}
	}
}

function textOf(list: ListName, failure: Error | undefined): string {
	return `${LISTS[list].method} of the upstream failed: ${failure?.message}`;
}
