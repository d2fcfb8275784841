import type * as Core from "./core.js";
import { SimulatedDevice } from "./device.js";
import { Ledger } from "./ledger.js";
import { Hub } from "./nats.js";
import { Path } from "./network.js";
import type { Plan } from "./plan.js";
import { enter } from "./sandbox.js";
import { SimulatedProcess, World } from "./world.js";

/** Milliseconds between the model's own checks. */
const TICK = 1_000;

/** Milliseconds until a device that has lost its gateway connects again. */
const RECONNECT = [200, 2_500] as const;

/** A machine for a gateway, whose process comes and goes. */
export class Host {
	readonly name: string;
	readonly path: Path;
	readonly #clockError: number;
	process: SimulatedProcess;
	/** Undefined while it does not run, or still starts. */
	gateway: Core.SimulatedGateway | undefined;
	/** The newest of each device. */
	readonly sessions = new Map<string, Core.DeviceSession>();
	state: "down" | "starting" | "up" | "stopping" = "down";
	/** Counts the processes. */
	incarnation = 0;

	constructor(name: string, world: World, clockError: number) {
		this.name = name;
		this.path = new Path(world);
		this.#clockError = clockError;
		this.process = this.makeProcess();
	}

	makeProcess(): SimulatedProcess {
		return new SimulatedProcess(this.name, this.path, this.#clockError);
	}

	/** Whether nothing disturbs it. */
	get isCalm(): boolean {
		return this.state === "up" && this.process.stoppedUntil <= this.path.world.now && this.path.isNormal;
	}

	kill(): void {
		this.process.kill();
		this.gateway = undefined;
		this.state = "down";
	}
}

/** Gateways, devices, NATS and the network between them. */
export class Town {
	readonly world: World;
	readonly nats: Hub;
	readonly hosts: readonly Host[];
	readonly devices: readonly SimulatedDevice[];
	readonly ledger = new Ledger();
	readonly core: typeof Core;
	/** The story: a line for each event. */
	readonly story: string[] = [];
	/** When something was not as it should be, by the world's clock. */
	#disturbed = 0;

	constructor(core: typeof Core, plan: Plan) {
		const world = new World(plan.seed);
		this.core = core;
		this.world = world;
		this.nats = new Hub(world);
		enter(this.nats);
		this.hosts = plan.clocks.map((clock, i) => new Host("abc"[i] as string, world, clock));
		this.devices = Array.from({ length: plan.devices }, (_, i) => {
			const onLost = (): void => this.#reconnect(device);
			const device: SimulatedDevice = new SimulatedDevice(`aa:00:00:00:00:0${i}`, world, onLost);
			return device;
		});
	}

	/** Starts NATS, and every gateway. */
	async open(): Promise<void> {
		this.nats.isUp = true;
		this.#tick();
		for (const host of this.hosts) {
			this.start(host);
			await this.world.pass(300);
		}
	}

	say(who: string, text: string): void {
		this.story.push(`${(this.world.now / 1_000).toFixed(3).padStart(8)} s  ${who.padEnd(6)} ${text}`);
	}

	/** Undefined: not in this plan. */
	host(name: string): Host | undefined {
		return this.hosts.find((host) => host.name === name);
	}

	start(host: Host): void {
		if (host.state !== "down") {
			return;
		}
		host.incarnation += 1;
		host.process = host.makeProcess();
		host.state = "starting";
		this.say(host.name, "starts");
		this.world.at(0, host.process, async () => {
			try {
				host.gateway = await this.core.SimulatedGateway.start(host.name, this.#logOf(host));
				host.state = "up";
				this.say(host.name, "is up");
			} catch (error) {
				this.say(host.name, `cannot start: ${(error as Error).message}`);
				host.kill();
			}
		});
	}

	/** Runs a command beside a gateway, in a process of its own. */
	command<T>(host: Host, run: (store: Core.Store) => Promise<T>, what: string, done: (result: T) => void): void {
		this.world.at(0, host.makeProcess(), async () => {
			try {
				const result = await this.core.runCommand(host.name, this.#logOf(host), run);
				this.say(host.name, `${what}: done`);
				done(result);
			} catch (error) {
				this.say(host.name, `${what}: ${(error as Error).message}`);
			}
		});
	}

	#logOf({ name }: Host): (line: string) => void {
		return (line) => this.say(name, `log: ${line}`);
	}

	/** As SIGTERM does. */
	stop(host: Host): void {
		const { gateway } = host;
		if (gateway === undefined || host.state !== "up") {
			return;
		}
		host.state = "stopping";
		this.world.at(0, host.process, async () => {
			await gateway.running.close();
			this.say(host.name, "has stopped");
			host.kill();
		});
	}

	connect(device: SimulatedDevice, host: Host): void {
		if (host.gateway === undefined) {
			this.#reconnect(device);
			return;
		}
		this.say(device.id, `connects to ${host.name}`);
		device.connect(host.process, (id, wire) => {
			const session = host.gateway?.connectDevice(id, wire);
			if (session === undefined) {
				return undefined;
			}
			host.sessions.set(id, session);
			const received = (text: string): void => {
				if (host.sessions.get(id) === session) {
					this.#noteEvent(host, id, text);
				}
				session.received(text);
			};
			return { ...session, received };
		});
	}

	/** Since when nothing is disturbed, by the world's clock. */
	get calmSince(): number {
		const isCalm = this.hosts.every((host) => host.isCalm && host.gateway?.status?.connected === true);
		if (!isCalm || !this.nats.isUp || this.nats.isFull) {
			this.#disturbed = this.world.now;
		}
		return this.#disturbed;
	}

	/** Ends every fault, except for processes that do not run for a while, and starts those that are down. */
	heal(): void {
		this.nats.isFull = false;
		this.nats.isUp = true;
		for (const host of this.hosts) {
			host.path.heal();
			host.process.crash = undefined;
			this.start(host);
		}
	}

	/** A gateway accepts the events of devices that are online there. */
	#noteEvent({ gateway, name, incarnation }: Host, device: string, text: string): void {
		const { method, params } = JSON.parse(text).payload;
		const isHere = gateway?.devices.some(
			({ id, online, connection }) => id === device && online && connection?.identity.gateway === undefined,
		);
		if (method === "notifications/event") {
			this.ledger.events.push({ n: params.data.n, device, gateway: name, incarnation, isSure: isHere === true });
		}
	}

	#tick(): void {
		// It is noted when something is disturbed.
		void this.calmSince;
		this.world.at(TICK, undefined, () => this.#tick());
	}

	#reconnect(device: SimulatedDevice): void {
		const { random } = this.world;
		this.world.at(random.between(...RECONNECT), undefined, () => {
			if (device.isOn && device.gateway === undefined) {
				this.connect(device, random.pick(this.hosts));
			}
		});
	}
}
