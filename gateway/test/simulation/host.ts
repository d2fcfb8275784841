import type { DeviceSession, SimulatedGateway } from "./core/simulated-gateway.js";
import { SimulatedProcess } from "./world.js";

/** A machine for a gateway, whose process comes and goes. */
export class Host {
	readonly name: string;
	readonly clockError: number;
	process: SimulatedProcess;
	/** Undefined while it does not run, or still starts. */
	gateway: SimulatedGateway | undefined;
	/** The newest of each device. */
	readonly sessions = new Map<string, DeviceSession>();
	state: "down" | "starting" | "up" | "stopping" = "down";
	/** Counts the processes. */
	incarnation = 0;

	constructor(name: string, clockError: number) {
		this.name = name;
		this.clockError = clockError;
		this.process = new SimulatedProcess(name, clockError);
	}

	/** The next process. */
	restart(): void {
		this.incarnation += 1;
		this.process = new SimulatedProcess(this.name, this.clockError);
		this.state = "starting";
	}
}
