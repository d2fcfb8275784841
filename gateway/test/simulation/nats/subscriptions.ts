import { subjectMatches } from "./frames.js";

interface Subscription {
	readonly sid: string;
	readonly subject: string;
	/** Messages after which it ends; undefined: it stays. */
	left: number | undefined;
}

const WILDCARD = /[*>]/;

/** The subscriptions of a client. */
export class Subscriptions {
	readonly #bySid = new Map<string, Subscription>();
	/** Subscriptions without wildcards, by subject. */
	readonly #exact = new Map<string, Subscription[]>();
	readonly #patterns = new Set<Subscription>();

	get size(): number {
		return this.#bySid.size;
	}

	add(sid: string, subject: string): void {
		const subscription = { sid, subject, left: undefined };
		this.#bySid.set(sid, subscription);
		if (WILDCARD.test(subject)) {
			this.#patterns.add(subscription);
		} else {
			this.#exact.set(subject, [...(this.#exact.get(subject) ?? []), subscription]);
		}
	}

	/** @param max messages after which it ends; undefined: it ends at once */
	end(sid: string, max: number | undefined): void {
		const subscription = this.#bySid.get(sid);
		if (subscription === undefined) {
			return;
		}
		if (max !== undefined) {
			subscription.left = max;
			return;
		}
		this.#bySid.delete(sid);
		this.#patterns.delete(subscription);
		const { subject } = subscription;
		const others = (this.#exact.get(subject) ?? []).filter((each) => each !== subscription);
		if (others.length > 0) {
			this.#exact.set(subject, others);
		} else {
			this.#exact.delete(subject);
		}
	}

	/** A message was sent to it. */
	used(sid: string): void {
		const subscription = this.#bySid.get(sid);
		if (subscription?.left !== undefined) {
			subscription.left -= 1;
			if (subscription.left <= 0) {
				this.end(sid, undefined);
			}
		}
	}

	/** Whether a subject matches one of them. */
	has(subject: string): boolean {
		return this.#exact.has(subject) || [...this.#patterns].some((each) => subjectMatches(each.subject, subject));
	}

	/** The ids of the subscriptions that a subject matches. */
	to(subject: string): string[] {
		const found = (this.#exact.get(subject) ?? []).map(({ sid }) => sid);
		for (const { sid, subject: pattern } of this.#patterns) {
			if (subjectMatches(pattern, subject)) {
				found.push(sid);
			}
		}
		return found;
	}
}
