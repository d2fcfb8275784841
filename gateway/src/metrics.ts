import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { RefusalReason } from "./request-refusal.js";

/** What is counted from outside at the moment of asking. */
export interface MetricsSources {
	readonly devicesConnected: () => number;
	readonly devicesKnown: () => number;
	readonly sessions: () => number;
}

/** Seconds: a call to a chip nearby takes milliseconds, one that waits for a device that is away up to a minute. */
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * The gateway's figures for Prometheus. No label holds a device or a token: thousands of devices would be thousands of
 * time series. What a single device does is in the log and in `/events`.
 */
export class Metrics {
	readonly registry = new Registry();
	readonly #calls: Histogram<"outcome">;
	readonly #refusedRequests: Counter<"reason">;
	readonly #refusedDevices: Counter;

	constructor(sources: MetricsSources) {
		const registers = [this.registry];
		const gauge = (name: string, help: string, value: () => number): void => {
			new Gauge({
				name,
				help,
				registers,
				collect() {
					this.set(value());
				},
			});
		};
		gauge("xs_mcp_gateway_devices_connected", "Devices in a session", sources.devicesConnected);
		gauge("xs_mcp_gateway_devices_known", "Devices known, connected or away", sources.devicesKnown);
		gauge("xs_mcp_gateway_sessions", "Sessions of hosts (revisions up to 2025-11-25)", sources.sessions);
		this.#calls = new Histogram({
			name: "xs_mcp_gateway_call_duration_seconds",
			help: "Calls to devices, by how they ended: ok, tool-error, or the error's code",
			labelNames: ["outcome"],
			buckets: CALL_BUCKETS,
			registers,
		});
		this.#refusedRequests = new Counter({
			name: "xs_mcp_gateway_requests_refused_total",
			help: "Requests of hosts that were refused, by reason",
			labelNames: ["reason"],
			registers,
		});
		this.#refusedDevices = new Counter({
			name: "xs_mcp_gateway_device_messages_refused_total",
			help: "Connections and messages of devices that were refused or dropped",
			registers,
		});
	}

	/** @param duration milliseconds */
	called(outcome: string, duration: number): void {
		this.#calls.observe({ outcome }, duration / 1_000);
	}

	requestRefused(reason: RefusalReason): void {
		this.#refusedRequests.inc({ reason });
	}

	deviceRefused(): void {
		this.#refusedDevices.inc();
	}
}
