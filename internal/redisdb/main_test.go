package redisdb

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain leaves out a goroutine of rueidis, which waits five seconds before it closes connections to nodes that have
// left a Cluster, and cannot be stopped.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}
