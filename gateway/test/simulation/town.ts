import type * as Core from "./core/index.js";
import type { Machine } from "./core/simulated-gateway.js";
import { SimulatedDevice } from "./device.js";
import { Host } from "./host.js";
import { Hub } from "./hub.js";
import { Ledger } from "./ledger.js";
import { Network } from "./network.js";
import type { Plan } from "./plan.js";
import { enter } from "./sandbox.js";
import { SimulatedProcess, World } from "./world.js";

const NATS = "nats:4222";

/** Milliseconds between the model's own checks. */
const NATS_TICK = 1_000;

/** Milliseconds until a device that has lost its gateway connects again. */
const RECONNECT = [200, 2_500] as const;

/** Gateways, devices, NATS and the network between them. */
export class Town {
	readonly world: World;
	readonly network: Network;
	readonly nats: Hub;
	readonly hosts: readonly Host[];
	readonly devices: readonly SimulatedDevice[];
	readonly ledger = new Ledger();
	readonly core: typeof Core;
	/** The story: a line for each event. */
	readonly story: string[] = [];
	/** When something was not as it should be, by the world's clock. */
	#disturbed = 0;
	#stopNats: (() => void) | undefined;

	constructor(core: typeof Core, plan: Plan) {
		this.core = core;
		this.world = new World(plan.seed);
		this.network = new Network(this.world);
		enter({ world: this.world, network: this.network });
		core.reset();
		const { world } = this;
		this.nats = new Hub(
			() => world.date,
			world.random,
			(delay, run) => void world.at(delay, undefined, run),
		);
		this.hosts = plan.clocks.map((clock, i) => new Host("abc"[i] as string, clock));
		this.devices = Array.from({ length: plan.devices }, (_, i) => {
			const device: SimulatedDevice = new SimulatedDevice(`aa:00:00:00:00:0${i}`, this.network, () =>
				this.#reconnect(device),
			);
			return device;
		});
	}

	/** Starts NATS, and every gateway. */
	async open(): Promise<void> {
		this.startNats();
		this.#tickNats();
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

	/** The path between a gateway and NATS. */
	pathOf(host: Host): string {
		return `${host.name}>${NATS}`;
	}

	start(host: Host): void {
		if (host.state !== "down") {
			return;
		}
		host.restart();
		this.say(host.name, "starts");
		const { process } = host;
		this.world.at(0, process, () => {
			this.core.SimulatedGateway.start(this.machineOf(host)).then(
				(gateway) => {
					host.gateway = gateway;
					host.state = "up";
					this.say(host.name, "is up");
				},
				(error: Error) => {
					this.say(host.name, `cannot start: ${error.message}`);
					this.kill(host);
				},
			);
		});
	}

	/** Runs a command beside a gateway, in a process of its own. */
	command(host: Host, run: (command: Core.Command) => Promise<void>): void {
		this.world.at(0, new SimulatedProcess(host.name, host.clockError), () => {
			void run(new this.core.Command(this.machineOf(host)));
		});
	}

	machineOf({ name }: Host): Machine {
		return { name, cluster: `nats://${NATS}`, log: (line) => this.say(name, `log: ${line}`) };
	}

	kill(host: Host): void {
		host.process.kill();
		host.gateway = undefined;
		host.state = "down";
	}

	stop(host: Host): void {
		const { gateway } = host;
		if (gateway === undefined || host.state !== "up") {
			return;
		}
		host.state = "stopping";
		const { process } = host;
		this.world.at(0, process, () => {
			void gateway.close().then(() => {
				this.say(host.name, "has stopped");
				this.kill(host);
			});
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
			if (session === undefined || typeof session === "string") {
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

	startNats(): void {
		this.#stopNats ??= this.network.listen(NATS, (write) => this.nats.connect(write));
	}

	stopNats(): void {
		this.#stopNats?.();
		this.#stopNats = undefined;
	}

	/** Since when nothing is disturbed, by the world's clock. */
	get calmSince(): number {
		const { now } = this.world;
		const isCalm = this.hosts.every(
			(host) =>
				host.state === "up" &&
				host.process.stoppedUntil <= now &&
				this.network.isNormal(this.pathOf(host)) &&
				host.gateway?.isConnected === true,
		);
		if (!isCalm || this.#stopNats === undefined || this.nats.isFull) {
			this.#disturbed = now;
		}
		return this.#disturbed;
	}

	/** Ends every fault, except for processes that do not run for a while, and starts those that are down. */
	heal(): void {
		this.network.heal();
		this.nats.isFull = false;
		this.startNats();
		for (const host of this.hosts) {
			host.process.crash = undefined;
			this.start(host);
		}
	}

	/** A gateway accepts the events of devices that are online there. */
	#noteEvent({ gateway, name, incarnation }: Host, device: string, text: string): void {
		const { method, params } = JSON.parse(text).payload;
		const isHere = gateway?.devices.some((each) => each.id === device && each.online && each.gateway === undefined);
		if (method === "notifications/event") {
			this.ledger.events.push({ n: params.data.n, device, gateway: name, incarnation, isSure: isHere === true });
		}
	}

	#tickNats(): void {
		// It is noted when something is disturbed.
		void this.calmSince;
		this.world.at(NATS_TICK, undefined, () => this.#tickNats());
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
