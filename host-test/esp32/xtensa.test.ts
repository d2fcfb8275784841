// The firmware's C as an ESP32 and an ESP32-S3 have it: syntax and types, with the headers of each chip, for those who lack
// their compilers. The compiler is Debian's for another Xtensa. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { buildForQemu, findQemuTools, type QemuTools } from "./qemu.js";

const GCC = "xtensa-lx106-elf-gcc";
/** The headers of ESP-IDF 6.0 are C23, where `bool` needs no header. */
const FLAGS = ["-include", "stdbool.h", "-fsyntax-only", "-std=gnu17", "-Wall", "-Werror", "-D__ets__", "-DESP32=1"];
const LIBC = "/usr/lib/xtensa-lx106-elf/include";
const SDK = [
	"xs/includes",
	"xs/platforms/esp",
	"xs/platforms/mc",
	"modules/io/common",
	"modules/network/socket/lwip",
	"modules/base/instrumentation",
];
const IDF = /(^|\/)(platform_include|include|register)(\/(soc|freertos|esp32\w+))?$/;
const NOT_IDF = /\b(linux|riscv|test\w*|esp_tee|deprecated_include|FreeRTOS-Kernel-SMP)\b|mbedtls\/mbedtls/;

/** Declaration of esp32-camera, a component that ESP-IDF downloads for a board with a camera. */
const CAMERA = `#include <stdbool.h>
typedef enum { PIXFORMAT_RGB565 } pixformat_t;
bool fmt2jpg(uint8_t *, size_t, uint16_t, uint16_t, pixformat_t, uint8_t, uint8_t **, size_t *);`;

/** Declaration of micro-opus, a component that ESP-IDF downloads for a board with a codec. */
const OPUS = `#include <stdint.h>
typedef int16_t opus_int16;
typedef struct OpusDecoder OpusDecoder;
OpusDecoder *opus_decoder_create(int32_t, int, int *);
int opus_decode(OpusDecoder *, const unsigned char *, int32_t, opus_int16 *, int, int);
void opus_decoder_destroy(OpusDecoder *);
typedef struct OpusEncoder OpusEncoder;
#define OPUS_APPLICATION_RESTRICTED_LOWDELAY 2051
#define OPUS_SET_BITRATE(x) 4002, (int32_t)(x)
#define OPUS_SET_COMPLEXITY(x) 4010, (int32_t)(x)
OpusEncoder *opus_encoder_create(int32_t, int, int, int *);
int opus_encode(OpusEncoder *, const opus_int16 *, int, unsigned char *, int32_t);
int opus_encoder_ctl(OpusEncoder *, int, ...);
void opus_encoder_destroy(OpusEncoder *);`;

/** POSIX threads, which Debian's C library for the Xtensa lacks: names and numbers of arguments. */
const THREADS = `#pragma once
typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_attr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_attr_init(pthread_attr_t *), pthread_attr_setstacksize(pthread_attr_t *, unsigned), pthread_attr_destroy(pthread_attr_t *);
int pthread_mutex_init(pthread_mutex_t *, const void *), pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *), pthread_mutex_destroy(pthread_mutex_t *);
int pthread_cond_init(pthread_cond_t *, const void *), pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_signal(pthread_cond_t *), pthread_cond_destroy(pthread_cond_t *);`;

const tools = findQemuTools();
const missing = spawnSync(GCC, ["--version"]).error && `${GCC} is not on the PATH: host-test/esp32/README.md`;

function filesIn(folder: string, isWanted: (name: string) => boolean): string[] {
	const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
	return names.filter(isWanted).map((name) => join(folder, name));
}

for (const chip of ["esp32", "esp32s3"]) {
	it(`the firmware's C is valid for ${chip}`, { skip: typeof tools === "string" ? tools : missing }, async (t) => {
		const { sdk, made, settings } = { ...(tools as QemuTools), ...(await buildForQemu(tools as QemuTools)) };
		const idf = join(process.env.IDF_PATH as string, "components");
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-xtensa-"));
		t.after(() => rmSync(folder, { recursive: true }));
		const config = readFileSync(settings, "utf8")
			.replace(/^#define CONFIG_(IDF_TARGET|SOC_).*$/gm, "")
			.replace("LIBC_NEWLIB", "LIBC_PICOLIBC");
		writeFileSync(join(folder, "sdkconfig.h"), `#define CONFIG_IDF_TARGET_${chip.toUpperCase()} 1\n${config}`);
		writeFileSync(join(folder, "img_converters.h"), CAMERA);
		writeFileSync(join(folder, "opus.h"), OPUS);
		writeFileSync(join(folder, "pthread.h"), THREADS);
		// A copy: the next test may build other firmware there.
		for (const name of readdirSync(made).filter((each) => each.endsWith(".h"))) {
			copyFileSync(join(made, name), join(folder, name));
		}
		const isOfChip = (name: string) =>
			(name.match(/\besp32\w*/g) ?? []).every((each) => [chip, "esp32xx"].includes(each));
		const headers = filesIn(idf, (name) => IDF.test(name) && !NOT_IDF.test(name) && isOfChip(name));
		const includes = [folder, ...SDK.map((name) => join(sdk.root, name)), ...headers, idf, LIBC];
		const sources = ["src", "host-test"].flatMap((name) => filesIn(join(ROOT, name), (file) => file.endsWith(".c")));
		const args = [...FLAGS, ...includes.flatMap((each) => ["-isystem", each]), ...sources];
		const { status, stderr } = spawnSync(GCC, args, { encoding: "utf8" });
		assert.equal(status, 0, stderr);
	});
}
