package stockredis

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"comanda/internal/redisdb"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/stock"
	"comanda/internal/telemetry"
	"comanda/internal/testenv"
)

// requestOf is a carrier with a request id, like that of httpapi.
type requestOf string

func (r requestOf) LogAttrs() []slog.Attr { return []slog.Attr{slog.String("request_id", string(r))} }

// inventory-tcc 003-G2: the record of a failed script has the id of the request that met it, and the ids of its orders.
func TestCache_rejection_is_logged_with_the_request(t *testing.T) {
	redisdbtest.Each(t, func(t *testing.T, db *redisdb.DB) {
		var out bytes.Buffer
		buffer := telemetry.NewBuffer(&out)
		log := testenv.Must(telemetry.NewLogger(buffer, telemetry.LogConfig{}))(t)
		c := New(db, Config{Now: time.Now, Timeout: patience, Log: log})
		s := stock.Scope{Branch: 1, Date: "2026-02-26"}
		// The script cannot read a counter hash of another type.
		testenv.NoError(t, db.Do(t.Context(), "SET", counterKeys(s, 0)[0], "x").Err())

		h := stock.Hold{ID: "01j9v0k4v5m6n7o8p9q0r1s2t3", Scope: s, Lines: []stock.Line{{Item: 11, Qty: 1}}}
		v, err := c.Reserve(telemetry.WithCarrier(t.Context(), requestOf("r-77")), h)
		if err != nil || v.Status != stock.Cold {
			t.Fatalf("Reserve = %+v, %v, want Cold: SQL decides", v, err)
		}
		testenv.NoError(t, buffer.Close())
		var record map[string]any
		testenv.NoError(t, json.Unmarshal([]byte(strings.SplitN(out.String(), "\n", 2)[0]), &record))
		for field, want := range map[string]any{
			"level": "ERROR", "request_id": "r-77", "what": "try", "branch": 1.0, "requests": 1.0, "holds": h.ID,
		} {
			if record[field] != want {
				t.Errorf("%s = %v, want %v", field, record[field], want)
			}
		}
	})
}
