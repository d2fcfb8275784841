import { performance } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Seconds: a call to a chip nearby takes milliseconds, one that waits for an offline device up to a minute. */
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Makes the gateway's metrics for Prometheus, with those of its process. No label holds a device or a token: thousands of devices would
 * be thousands of time series. Events of single devices are in the log and in `/events`.
 */
export function makeMetrics() {
	const registry = new Registry();
	const calls = new Histogram({
		name: "xs_mcp_gateway_call_duration_seconds",
		help: "Calls to devices and configured servers, by how they ended",
		labelNames: ["outcome"],
		buckets: CALL_BUCKETS,
		registers: [registry],
	});
	const rejectedRequests = new Counter({
		name: "xs_mcp_gateway_requests_rejected_total",
		help: "Requests of clients that were rejected, by reason",
		labelNames: ["reason"],
		registers: [registry],
	});
	const rejectedDevices = new Counter({
		name: "xs_mcp_gateway_device_messages_rejected_total",
		help: "Connections and messages of devices that were rejected or dropped",
		registers: [registry],
	});
	const firmware = new Counter({
		name: "xs_mcp_gateway_firmware_updates_total",
		help: "Firmware offered to devices, downloaded, confirmed and rolled back",
		labelNames: ["step"],
		registers: [registry],
	});
	let last = performance.eventLoopUtilization();
	const utilization = (): number => {
		const before = last;
		last = performance.eventLoopUtilization();
		return performance.eventLoopUtilization(last, before).utilization;
	};
	const busy = "Part of the time since the last scrape in which the event loop was busy: near 1, answers are late";

	/** Adds a value that is read at each scrape. It is a counter if its name ends with `_total`. */
	const add = (name: string, help: string, value: () => number): void => {
		const options = { name: `xs_mcp_gateway_${name}`, help, registers: [registry] };
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
	};

	add("resident_memory_bytes", "Memory of the process", () => process.memoryUsage.rss());
	add("heap_bytes", "Memory of its JavaScript objects", () => process.memoryUsage().heapUsed);
	add("event_loop_utilization", busy, utilization);
	return {
		registry,
		calls,
		rejectedRequests,
		rejectedDevices,
		firmware,
		add,
	};
}
