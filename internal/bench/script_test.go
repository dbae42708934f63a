package bench

import (
	"context"
	"os"
	"testing"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

func TestScriptLimit(t *testing.T) {
	for name, address := range map[string]string{"redis": "redis://" + testenv.RedisServer(t).Addr(), "embedded": ""} {
		t.Run(name, func(t *testing.T) {
			c := Config{RedisURL: address, Namespace: "x", Duration: 200 * time.Millisecond}
			r, err := scriptLimit(t.Context(), c, Batches{Try: 8, Held: 16})
			if err != nil || r.PerSecond <= 0 || r.Batch < 2 || r.Batch > 32 {
				t.Errorf("scriptLimit = %+v, %v, want a rate in batches of 2 to 32", r, err)
			}
		})
	}
}

var (
	dbsize     = redisdb.MustScript(os.DirFS("testdata"), "dbsize.lua")
	setForeign = redisdb.MustScript(os.DirFS("testdata"), "foreign.lua")

	// unused is the key of scripts that use none: a script is sent with at least one.
	unused = []keyspace.Key{keyspace.HoldRecord(branchID, "unused")}
)

// B3, for Redis: a measurement leaves no keys, even if it is interrupted.
func TestScriptLimit_removes_its_keys(t *testing.T) {
	address := "redis://" + testenv.RedisServer(t).Addr()
	redis := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: address, Timeout: rawPatient}))(t)
	defer redis.Close()
	c := Config{RedisURL: address, Duration: 100 * time.Millisecond}
	testenv.Must(scriptLimit(t.Context(), c, Batches{Try: 4, Held: 4}))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c.Duration = time.Minute
	if _, err := scriptLimit(ctx, c, Batches{Try: 4, Held: 4}); err == nil {
		t.Error("an interrupted measurement returned a figure")
	}
	left, err := redis.Run(t.Context(), dbsize, unused, nil).Int()
	if err != nil || left != 0 {
		t.Errorf("%d keys are left, %v", left, err)
	}
}

// The script that measures memory runs on its keys, and returns 0 for a missing key.
func TestMeasureScript(t *testing.T) {
	address := "redis://" + testenv.RedisServer(t).Addr()
	redis := testenv.Must(redisdb.Open(t.Context(), redisdb.Config{URL: address, Timeout: rawPatient}))(t)
	defer redis.Close()
	key := keyspace.HoldRecord(branchID, "abc")
	measure := func() []int64 {
		got, err := redis.Run(t.Context(), measureScript, []keyspace.Key{key}, nil).Ints()
		if err != nil || len(got) != 3 || got[1] <= 0 || got[2] <= 1 {
			t.Fatalf("measureScript = %v, %v, want 3 numbers, the second and third positive", got, err)
		}
		return got
	}
	if got := measure(); got[0] != 0 {
		t.Errorf("a missing key takes %d bytes", got[0])
	}
	testenv.NoError(t, redis.Do(t.Context(), "HSET", key, "s", "HELD").Err())
	if got := measure(); got[0] < 20 || got[0] > 500 {
		t.Errorf("a small hash takes %d bytes", got[0])
	}
}
