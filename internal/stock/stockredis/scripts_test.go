package stockredis

import (
	"crypto/sha1"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/redisdb"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var _ stock.AdmissionCache = (*Cache)(nil)

var scripts = []*redisdb.Script{
	tryScript, applyScript, beginScript, loadScript, finishScript, readScript, snapshotScript, hotScript,
}

// The texts sent to Redis are in testdata, so that every change of a script is visible in a review.
func TestScripts_golden(t *testing.T) {
	var b strings.Builder
	for _, s := range scripts {
		fmt.Fprintf(&b, "== %s %x\n%s", s.Name(), sha1.Sum([]byte(s.Text())), s.Text())
	}
	const path = "testdata/scripts.golden"
	if *update {
		testenv.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	want := testenv.Must(os.ReadFile(path))(t)
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("script (-want +got); run the test with -update if this is meant:\n%s", d)
	}
}

func TestScripts_contract(t *testing.T) {
	entries, err := files.ReadDir("lua")
	if err != nil || len(entries) != len(scripts) {
		t.Errorf("%d files for %d scripts, %v", len(entries), len(scripts), err)
	}
	for _, e := range entries {
		source := testenv.Must(files.ReadFile("lua/" + e.Name()))(t)
		for _, part := range []string{"-- KEYS  ", "-- Returns ", "-- Cost  ", "-- Creates "} {
			if !strings.Contains(string(source), part) {
				t.Errorf("%s: the contract lacks %q", e.Name(), part)
			}
		}
		for _, banned := range []string{"TIME", "KEYS'", "SCAN", "math.random", "EXPIRE'", "EXPIREAT'", "PEXPIREAT'"} {
			if strings.Contains(string(source), "'"+banned) || strings.Contains(string(source), banned+"(") {
				t.Errorf("%s uses %s: time and choice come from the caller", e.Name(), banned)
			}
		}
	}
}
