import { performance } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Values that are read at each scrape. */
interface MetricsSources {
	readonly devicesConnected: () => number;
	readonly devicesElsewhere: () => number;
	readonly devicesKnown: () => number;
	readonly serversConnected: () => number;
	readonly sessions: () => number;
	/** Undefined: the gateway is alone. */
	readonly cluster?: { readonly listsRefused: () => number; readonly isConnected: () => boolean } | undefined;
	/** On disk; 0 if it is off. */
	readonly historyBytes: () => number;
	readonly auditBytes: () => number;
	/** Files of the state folder that could not be written. */
	readonly failedSaves: () => number;
	/** Events that endpoints of webhooks did not accept. */
	readonly droppedWebhookEvents: () => number;
}

/** Seconds: a call to a chip nearby takes milliseconds, one that waits for an offline device up to a minute. */
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * The gateway's metrics for Prometheus. No label holds a device or a token: thousands of devices would be thousands of
 * time series. Events of single devices are in the log and in `/events`.
 */
export class Metrics {
	readonly registry = new Registry();
	readonly calls = new Histogram({
		name: "xs_mcp_gateway_call_duration_seconds",
		help: "Calls to devices and configured servers, by how they ended",
		labelNames: ["outcome"],
		buckets: CALL_BUCKETS,
		registers: [this.registry],
	});
	readonly rejectedRequests = new Counter({
		name: "xs_mcp_gateway_requests_rejected_total",
		help: "Requests of clients that were rejected, by reason",
		labelNames: ["reason"],
		registers: [this.registry],
	});
	readonly rejectedDevices = new Counter({
		name: "xs_mcp_gateway_device_messages_rejected_total",
		help: "Connections and messages of devices that were rejected or dropped",
		registers: [this.registry],
	});
	readonly firmware = new Counter({
		name: "xs_mcp_gateway_firmware_updates_total",
		help: "Firmware offered to devices, downloaded, confirmed and rolled back",
		labelNames: ["step"],
		registers: [this.registry],
	});

	constructor(sources: MetricsSources) {
		const { cluster } = sources;
		let last = performance.eventLoopUtilization();
		const utilization = (): number => {
			const before = last;
			last = performance.eventLoopUtilization();
			return performance.eventLoopUtilization(last, before).utilization;
		};
		const busy = "Part of the time since the last scrape in which the event loop was busy: near 1, answers are late";
		const dropped = "Events that were given up, because the endpoint of a webhook did not accept them";
		const refused = "Attempts to share a device's lists with the cluster that failed; the log says why";
		const read: readonly (readonly [name: string, help: string, value: () => number])[] = [
			["saves_failed_total", "Files of the state folder that could not be written", sources.failedSaves],
			["webhook_events_dropped_total", dropped, sources.droppedWebhookEvents],
			["devices_connected", "Devices in a session with this gateway", sources.devicesConnected],
			["devices_elsewhere", "Devices in a session with another gateway of the cluster", sources.devicesElsewhere],
			["devices_known", "Devices known, online or offline", sources.devicesKnown],
			["servers_connected", "Configured servers that are connected", sources.serversConnected],
			["sessions", "Sessions of clients (revisions up to 2025-11-25)", sources.sessions],
			["history_bytes", "Disk space of the history of devices", sources.historyBytes],
			["audit_bytes", "Disk space of the log of calls and changes", sources.auditBytes],
			["resident_memory_bytes", "Memory of the process", () => process.memoryUsage.rss()],
			["heap_bytes", "Memory of its JavaScript objects", () => process.memoryUsage().heapUsed],
			["event_loop_utilization", busy, utilization],
			...(cluster === undefined
				? []
				: ([
						["cluster_lists_refused_total", refused, cluster.listsRefused],
						["cluster_connected", "Whether NATS can be reached", () => Number(cluster.isConnected())],
					] as const)),
		];
		for (const [name, help, value] of read) {
			const options = { name: `xs_mcp_gateway_${name}`, help, registers: [this.registry] };
			if (name.endsWith("_total")) {
				const counter: Counter = new Counter({
					...options,
					collect() {
						counter.reset();
						counter.inc(value());
					},
				});
			} else {
				const gauge: Gauge = new Gauge({ ...options, collect: () => gauge.set(value()) });
			}
		}
	}
}
