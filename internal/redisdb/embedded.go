package redisdb

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/rueidis"

	"comanda/internal/clock"
)

const (
	embeddedMode = "embedded"
	tickPause    = time.Second

	// Advancing the store's clock takes time in proportion to its keys, with the store locked. It is given at most one
	// part in this many of the time, so expiry is late by that factor on a very full store.
	tickShare = 100
)

// store is the Redis inside the process: miniredis, with a clock and with doors for other processes.
type store struct {
	mini  *miniredis.Miniredis
	srv   *server.Server
	info  string
	doors []net.Listener
	sock  *socket
	stop  chan struct{}
	wg    sync.WaitGroup
}

// openStore starts the store. Without a directory it has no socket and no other process can reach it.
func openStore(dir, listen string) (*store, error) {
	s := &store{mini: miniredis.NewMiniRedis(), stop: make(chan struct{})}
	s.info = strings.Join([]string{
		"# Server", "redis_version:7.4.0", "redis_mode:" + embeddedMode, "run_id:" + strings.ToLower(rand.Text()), "",
	}, "\r\n")
	c, err := s.mini.Dial() // starts the server without a listener of its own
	if err != nil {
		return nil, err
	}
	_ = c.Close()
	s.srv = s.mini.Server()
	s.srv.SetPreHook(s.answerInfo)
	if err := s.openDoors(dir, listen); err != nil {
		s.close()
		return nil, err
	}
	s.wg.Go(s.tick)
	for _, door := range s.doors {
		s.wg.Go(func() { s.serve(door) })
	}
	return s, nil
}

func (s *store) openDoors(dir, listen string) error {
	if dir != "" {
		sock, err := claimSocket(dir)
		if err != nil {
			return err
		}
		s.sock = sock
		s.doors = append(s.doors, sock.listener)
	}
	if listen != "" {
		door, err := net.Listen("tcp", listen)
		if err != nil {
			return err
		}
		s.doors = append(s.doors, door)
	}
	return nil
}

// answerInfo says who the store is; miniredis itself refuses the sections that tell.
func (s *store) answerInfo(c *server.Peer, cmd string, _ ...string) bool {
	if cmd != "INFO" {
		return false
	}
	c.WriteBulk(s.info)
	return true
}

func (s *store) serve(door net.Listener) {
	for {
		c, err := door.Accept()
		if err != nil {
			return // closed
		}
		s.srv.ServeConn(c)
	}
}

// tick advances the store's clock; miniredis has none of its own that is cheap.
func (s *store) tick() {
	last, pause := clock.Start(), tickPause
	for {
		select {
		case <-s.stop:
			return
		case <-time.After(pause):
		}
		now := clock.Start()
		s.mini.FastForward(now.Begun().Sub(last.Begun()))
		last, pause = now, max(tickPause, tickShare*now.Elapsed())
	}
}

func (s *store) dial(context.Context) (net.Conn, error) { return s.mini.Dial() }

func (s *store) close() {
	close(s.stop)
	for _, door := range s.doors {
		_ = door.Close()
	}
	s.wg.Wait()
	s.mini.Close()
	if s.sock != nil {
		s.sock.release()
	}
}

// embeddedOption makes the client options for a store that is reached by a dialler. One connection is enough: the
// store does one thing at a time. Answers are read while commands are still being written, because the store, unlike
// Redis, reads no further while nobody takes its answers.
func (c Config) embeddedOption(dial func(context.Context) (net.Conn, error)) rueidis.ClientOption {
	return tuned(rueidis.ClientOption{
		InitAddress:       []string{embeddedMode},
		ForceSingleClient: true,
		PipelineMultiplex: -1,
		AlwaysPipelining:  true,
		ClientSetInfo:     rueidis.DisableClientSetInfo,
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(ctx)
		},
	}, c.Timeout)
}
