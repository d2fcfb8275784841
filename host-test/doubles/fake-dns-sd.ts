import type { DnsSd, FoundService } from "../../src/features/discovery/gateway-search.js";

export class FakeDnsSd {
	open = 0;
	opened = 0;
	serviceType = "";
	fault: string | undefined;
	#onFound: ((service: FoundService) => void) | undefined;

	readonly openDnsSd = (): DnsSd => {
		if (this.fault !== undefined) {
			throw new Error(this.fault);
		}
		this.open += 1;
		this.opened += 1;
		return {
			discover: ({ serviceType, onFound }) => {
				this.serviceType = serviceType;
				this.#onFound = onFound;
				return {};
			},
			close: () => {
				this.open -= 1;
			},
		};
	};

	find(change: Partial<FoundService> & { readonly facts?: object } = {}): void {
		const { facts = { transport: "ws", path: "/", version: "0.1.0" }, ...service } = change;
		this.#onFound?.({
			name: "xs-mcp gateway on workshop (ws)",
			host: "xs-mcp-workshop.local",
			address: "192.168.1.10",
			port: 8765,
			txt: new Map(Object.entries(facts)),
			...service,
		});
	}
}
