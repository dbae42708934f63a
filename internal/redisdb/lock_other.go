//go:build !unix

package redisdb

import (
	"fmt"
	"net"
)

// lock without file locks asks the socket itself: somebody who answers is alive. Two processes that start in the same
// instant are not told apart here, but by the database's own lock.
func lock(_, socket string) (unlock func(), err error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return func() {}, nil
	}
	_ = c.Close()
	return nil, fmt.Errorf("%w (%s answers)", ErrRunning, socket)
}
