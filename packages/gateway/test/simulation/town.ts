import type * as Core from "./core.js";
import { SimulatedDevice } from "./device.js";
import { Ledger } from "./ledger.js";
import { Hub } from "./nats.js";
import { NORMAL, Path } from "./network.js";
import type { Plan } from "./plan.js";
import { enter } from "./sandbox.js";
import { SimulatedProcess, World } from "./world.js";

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

	end(): void {
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
		for (const host of this.hosts) {
			this.start(host);
			await this.world.pass(300);
		}
	}

	readonly say = (who: string, text: string): void => {
		this.story.push(`${(this.world.now / 1_000).toFixed(3).padStart(8)} s  ${who.padEnd(6)} ${text}`);
	};

	/** Whether this process of a gateway has not ended, or was the last one. */
	runs(gateway: string, incarnation: number): boolean {
		return this.hosts.some((host) => host.name === gateway && host.incarnation === incarnation);
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
				host.gateway = await this.core.SimulatedGateway.start(host.name, (line) => this.say(host.name, `log: ${line}`));
				host.state = "up";
				this.say(host.name, "is up");
			} catch (error) {
				this.say(host.name, `cannot start: ${(error as Error).message}`);
				host.end();
			}
		});
	}

	/** Runs a command beside a gateway, in a process of its own. */
	command<T>(host: Host, run: (store: Core.Store) => Promise<T>, what: string, done: (result: T) => void): void {
		const say = (text: string): void => this.say(host.name, text);
		this.world.at(0, host.makeProcess(), async () => {
			try {
				const result = await this.core.runCommand(host.name, say, run);
				say(`${what}: done`);
				done(result);
			} catch (error) {
				say(`${what}: ${(error as Error).message}`);
			}
		});
	}

	/** As SIGKILL does. */
	kill(host: Host): void {
		this.say(host.name, "is killed");
		host.end();
	}

	/** As SIGTERM does. */
	stop(host: Host): void {
		const { gateway } = host;
		if (gateway === undefined || host.state !== "up") {
			return;
		}
		this.say(host.name, "gets SIGTERM");
		host.state = "stopping";
		this.world.at(0, host.process, async () => {
			await gateway.running.close();
			this.say(host.name, "has stopped");
			host.end();
		});
	}

	/** Changes a gateway's way to NATS. */
	disturb({ name, path }: Host, text: string, change: Parameters<Path["disturb"]>[0]): void {
		this.say(name, text);
		path.disturb(change);
	}

	connect(device: SimulatedDevice, host: Host): void {
		if (host.gateway === undefined) {
			device.isOn = true;
			this.#reconnect(device);
			return;
		}
		const { id } = device;
		this.say(id, `connects to ${host.name}`);
		device.connect(host.process, (link) => {
			const session = host.gateway?.connectDevice(id, link);
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

	/** Ends every fault, except for processes that do not run for a while, and starts those that are down. */
	heal(): void {
		this.nats.isFull = false;
		this.nats.isUp = true;
		for (const host of this.hosts) {
			host.path.disturb(NORMAL);
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

	#reconnect(device: SimulatedDevice): void {
		const { random } = this.world;
		this.world.at(random.between(...RECONNECT), undefined, () => {
			if (device.isOn && device.gateway === undefined) {
				this.connect(device, random.pick(this.hosts));
			}
		});
	}
}
