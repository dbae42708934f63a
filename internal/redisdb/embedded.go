package redisdb

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/gofrs/flock"
	"github.com/redis/rueidis"

	"comanda/internal/clock"
)

const (
	embeddedMode = "embedded"
	tickPause    = time.Second

	// Advancing the store's clock takes time in proportion to its keys, with the store locked. At most 1/tickShare of
	// the time is spent on it, so keys of a very full store expire late.
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

// listen opens the socket in dir for other processes of this machine, and the address for clients such as redis-cli. Both
// are optional: with neither, only this process uses the store.
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
			return // the store was closed
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

const (
	socketName  = "redis.sock"
	pointerName = "redis.path" // contains the socket's path if it is outside the data directory
	lockName    = "redis.lock"

	// The kernel's limit on a socket's path is 104 bytes on macOS and 108 on Linux, with the final zero.
	maxSocketPath = 100
)

// socket is the embedded store's listener in the data directory, accessible to this user only. The lock comes before
// the socket file and is released after it, so two processes never replace each other's socket.
type socket struct {
	listener net.Listener
	lock     *flock.Flock
	extra    []string // further paths that release removes
}

// claimSocket locks the data directory for this process and listens in it. It replaces a socket left by a dead process.
// The kernel releases the lock when its process ends, so a held lock means a live process.
func claimSocket(dir string) (*socket, error) {
	// The file of the lock is never removed: otherwise two processes could lock two files of the same name.
	s := &socket{lock: flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))}
	locked, err := s.lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("redisdb: lock: %w", err)
	case !locked:
		return nil, fmt.Errorf("%w (%s is locked)", ErrRunning, s.lock.Path())
	}
	if err := s.listen(dir); err != nil {
		s.release()
		return nil, fmt.Errorf("redisdb: socket in the data directory: %w", err)
	}
	return s, nil
}

func (s *socket) listen(dir string) error {
	path, err := s.place(dir)
	if err != nil {
		return err
	}
	if err := removeSocket(path); err != nil {
		return err
	}
	s.listener, err = net.Listen("unix", path)
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// place returns the path of the socket: in the data directory, or in a private temporary directory if that path would
// be too long. Tools find the latter through the pointer file.
func (s *socket) place(dir string) (string, error) {
	pointer := filepath.Join(dir, pointerName)
	if old, err := os.ReadFile(pointer); err == nil { // the file of a dead process; leftovers do no harm
		_ = removeSocket(string(old))
		_ = os.Remove(filepath.Dir(string(old))) // only when empty
		_ = os.Remove(pointer)
	}
	path := filepath.Join(dir, socketName)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	private, err := os.MkdirTemp("", "comanda-")
	if err != nil {
		return "", err
	}
	s.extra = append(s.extra, private, pointer)
	path = filepath.Join(private, socketName)
	return path, os.WriteFile(pointer, []byte(path), 0o600)
}

// removeSocket removes a leftover socket, but never a file that is not a socket.
func removeSocket(path string) error {
	at, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case at.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	return os.Remove(path)
}

func (s *socket) release() {
	if s.listener != nil {
		_ = s.listener.Close() // removes its file
	}
	for _, path := range s.extra {
		_ = os.Remove(path)
	}
	_ = s.lock.Close()
}

// liveSocket returns the path of the socket of the process that uses a data directory.
func liveSocket(dir string) (string, error) {
	path := filepath.Join(dir, socketName)
	if other, err := os.ReadFile(filepath.Join(dir, pointerName)); err == nil {
		path = strings.TrimSpace(string(other))
	}
	c, err := net.DialTimeout("unix", path, dialTimeout) //nolint:noctx // a local socket connects at once
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	_ = c.Close()
	return path, nil
}
