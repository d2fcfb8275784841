// ESP-IDF's DNS client, for src/hardware/drivers/open-esp32.ts.

#include "xsmc.h"

#include "esp_netif.h"

void xs_esp32dns_set(xsMachine *the)
{
	esp_netif_t *station = esp_netif_get_handle_from_ifkey("WIFI_STA_DEF");
	esp_netif_dns_info_t dns = {0};

	dns.ip.type = ESP_IPADDR_TYPE_V4;
	if ((NULL != station) && (ESP_OK == esp_netif_str_to_ip4(xsmcToString(xsArg(0)), &dns.ip.u_addr.ip4)))
		esp_netif_set_dns_info(station, ESP_NETIF_DNS_MAIN, &dns);
}
