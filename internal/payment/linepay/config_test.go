package linepay

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestConfig_Validate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *Config)
		ok     bool
	}{
		"sandbox":        {func(*Config) {}, true},
		"production":     {func(c *Config) { c.Host, c.Prefix = productionHost, "/v3" }, true},
		"own machine":    {func(c *Config) { c.Host = "http://127.0.0.1:8080/linepay" }, true},
		"own name":       {func(c *Config) { c.Host = "http://localhost:8080" }, true},
		"no encryption":  {func(c *Config) { c.Host = "http://api-pay.line.me" }, false},
		"slash":          {func(c *Config) { c.Host += "https://api-pay.line.me/" }, false},
		"query":          {func(c *Config) { c.Host = "https://api-pay.line.me?a=b" }, false},
		"user":           {func(c *Config) { c.Host = "https://u@api-pay.line.me" }, false},
		"no host":        {func(c *Config) { c.Host = "api-pay.line.me" }, false},
		"no channel":     {func(c *Config) { c.ChannelID = "" }, false},
		"header in it":   {func(c *Config) { c.ChannelID = "1\r\nX: y" }, false},
		"no secret":      {func(c *Config) { c.ChannelSecret = "" }, false},
		"line in secret": {func(c *Config) { c.ChannelSecret += "\n" }, false},
		"version":        {func(c *Config) { c.Prefix = "/v2" }, false},
		"bare version":   {func(c *Config) { c.Prefix = "v4" }, false},
	} {
		conf := testConfig()
		c.change(&conf)
		err := conf.Validate()
		if (err == nil) != c.ok {
			t.Errorf("Validate with %s: error %v, want success %t", name, err, c.ok)
		}
		if _, newErr := New(conf, &http.Client{}, Nonce); (newErr == nil) != c.ok {
			t.Errorf("%s: New: %v", name, newErr)
		}
		if text := fmt.Sprintf("%v %+v", err, conf); strings.Contains(text, "a917ab6a") {
			t.Errorf("%s: the secret is shown: %s", name, text)
		}
	}
}
