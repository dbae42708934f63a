//go:build !unix

package redisdb

import (
	"fmt"
	"net"
)

// lock checks whether a process listens on the socket, because there are no file locks. Two processes that start at the
// same instant are not detected here, but by the database's lock.
func lock(_, socket string) (unlock func(), err error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return func() {}, nil
	}
	_ = c.Close()
	return nil, fmt.Errorf("%w (%s answers)", ErrRunning, socket)
}
