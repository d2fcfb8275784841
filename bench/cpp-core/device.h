// Stand-ins for the parts of 78/xiaozhi-esp32 and ESP-IDF that main/mcp_server.cc uses, as far as its core
// needs on a computer. Each header that it includes becomes a file that includes this one.
#pragma once
#include <cJSON.h>
#include <functional>
#include <string>
#include <vector>

#define BOARD_NAME "bench"
#define ESP_LOGE(tag, ...) ((void)tag)
#define ESP_LOGW(tag, ...) ((void)tag)
#define ESP_LOGI(tag, ...) ((void)tag)
#define pdMS_TO_TICKS(milliseconds) (milliseconds)

inline void vTaskDelay(int) {}

inline int mbedtls_base64_encode(unsigned char*, size_t, size_t*, const unsigned char*, size_t) { return 0; }

struct AppDescription {
	const char* version = "0";
};

inline const AppDescription* esp_app_get_description() {
	static const AppDescription description;
	return &description;
}

struct AudioCodec {
	int volume = 70;
	void SetOutputVolume(int value) { volume = value; }
};

struct Backlight {
	int brightness = 75;
	void SetBrightness(int value, bool) { brightness = value; }
};

struct Camera {
	std::string url, token;
	void SetExplainUrl(const std::string& url, const std::string& token) {
		this->url = url;
		this->token = token;
	}
};

class Board {
	AudioCodec codec_;
	Backlight backlight_;
	Camera camera_;

public:
	static Board& GetInstance() {
		static Board board;
		return board;
	}
	AudioCodec* GetAudioCodec() { return &codec_; }
	Backlight* GetBacklight() { return &backlight_; }
	Camera* GetCamera() { return &camera_; }
	std::string GetSystemInfoJson() { return "{}"; }

	/** With the members that bench/server.ts reports, made as its WifiBoard makes them. */
	std::string GetDeviceStatusJson() {
		auto root = cJSON_CreateObject();
		auto speaker = cJSON_CreateObject();
		cJSON_AddNumberToObject(speaker, "volume", codec_.volume);
		cJSON_AddItemToObject(root, "audio_speaker", speaker);
		auto screen = cJSON_CreateObject();
		cJSON_AddNumberToObject(screen, "brightness", backlight_.brightness);
		cJSON_AddStringToObject(screen, "theme", "light");
		cJSON_AddItemToObject(root, "screen", screen);
		auto battery = cJSON_CreateObject();
		cJSON_AddNumberToObject(battery, "level", 88);
		cJSON_AddBoolToObject(battery, "charging", false);
		cJSON_AddItemToObject(root, "battery", battery);
		auto network = cJSON_CreateObject();
		cJSON_AddStringToObject(network, "type", "wifi");
		cJSON_AddStringToObject(network, "ssid", "home");
		cJSON_AddStringToObject(network, "signal", "strong");
		cJSON_AddItemToObject(root, "network", network);
		auto chip = cJSON_CreateObject();
		cJSON_AddNumberToObject(chip, "temperature", 41.5);
		cJSON_AddItemToObject(root, "chip", chip);
		auto text = cJSON_PrintUnformatted(root);
		std::string json(text);
		cJSON_free(text);
		cJSON_Delete(root);
		return json;
	}
};

/** Runs what is scheduled when the message has been read, and counts what is sent. */
class Application {
	std::vector<std::function<void()>> scheduled_;

public:
	size_t sent_bytes = 0;
	std::string last;

	static Application& GetInstance() {
		static Application application;
		return application;
	}
	void Schedule(std::function<void()> callback) { scheduled_.push_back(std::move(callback)); }
	void RunScheduled() {
		auto callbacks = std::move(scheduled_);
		for (auto& callback : callbacks) {
			callback();
		}
	}
	void SendMcpMessage(const std::string& payload) {
		last = "{\"session_id\":\"0123456789abcdef\",\"type\":\"mcp\",\"payload\":" + payload + "}";
		sent_bytes += last.size();
	}
	void Reboot() {}
	bool UpgradeFirmware(const std::string&) { return true; }
};

struct Settings {
	Settings(const char*, bool) {}
	void SetString(const char*, const std::string&) {}
};
