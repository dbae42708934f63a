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

	// Advancing the store's clock takes time in proportion to its keys, with the store locked. At most one part in
	// tickShare of the time is spent on it, so keys of a very full store expire late by that factor.
	tickShare = 100
)

// store is the embedded Redis: miniredis, with a clock and with listeners for other processes.
type store struct {
	mini      *miniredis.Miniredis
	srv       *server.Server
	info      string
	listeners []net.Listener
	sock      *socket
	stop      chan struct{}
	wg        sync.WaitGroup
}

// openStore starts the store. Without a directory it has no socket, and other processes cannot connect.
func openStore(dir, listen string) (*store, error) {
	s := &store{mini: miniredis.NewMiniRedis(), stop: make(chan struct{})}
	s.info = strings.Join([]string{
		"# Server", "redis_version:7.4.0", "redis_mode:" + embeddedMode, "run_id:" + strings.ToLower(rand.Text()), "",
	}, "\r\n")
	c, err := s.mini.Dial() // starts the server without a listener
	if err != nil {
		return nil, err
	}
	_ = c.Close()
	s.srv = s.mini.Server()
	s.srv.SetPreHook(s.answerInfo)
	if err := s.listen(dir, listen); err != nil {
		s.close()
		return nil, err
	}
	s.wg.Go(s.tick)
	for _, listener := range s.listeners {
		s.wg.Go(func() { s.serve(listener) })
	}
	return s, nil
}

func (s *store) listen(dir, listen string) error {
	if dir != "" {
		sock, err := claimSocket(dir)
		if err != nil {
			return err
		}
		s.sock = sock
		s.listeners = append(s.listeners, sock.listener)
	}
	if listen != "" {
		listener, err := net.Listen("tcp", listen)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, listener)
	}
	return nil
}

// answerInfo replies to INFO, because miniredis does not support the sections that identify a server.
func (s *store) answerInfo(c *server.Peer, cmd string, _ ...string) bool {
	if cmd != "INFO" {
		return false
	}
	c.WriteBulk(s.info)
	return true
}

func (s *store) serve(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return // closed
		}
		s.srv.ServeConn(c)
	}
}

// tick advances the store's clock; miniredis does not do it by itself.
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
	for _, listener := range s.listeners {
		_ = listener.Close()
	}
	s.wg.Wait()
	s.mini.Close()
	if s.sock != nil {
		s.sock.release()
	}
}

// embeddedOption returns the client options for a store that is reached through dial. One connection is enough, because
// the store executes one command at a time. Replies are read while commands are still being written, because the store,
// unlike Redis, stops reading until its replies are read.
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
