package redisdb

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

const (
	socketName  = "redis.sock"
	pointerName = "redis.path" // holds the socket's path when it could not lie in the data directory
	lockName    = "redis.lock"

	// The kernel's limit on a socket's path is 104 to 108 bytes.
	maxSocketPath = 100
)

// socket is the embedded store's door in the data directory, open to this user only.
type socket struct {
	listener net.Listener
	unlock   func()
	extra    []string // what else release removes
}

// claimSocket takes the data directory for this process and listens in it. A socket that a dead process has left is
// replaced; the lock, which the kernel drops with its process, tells dead from alive.
func claimSocket(dir string) (*socket, error) {
	unlock, err := lock(filepath.Join(dir, lockName), filepath.Join(dir, socketName))
	if err != nil {
		return nil, err
	}
	s := &socket{unlock: unlock}
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

// place decides where the socket lies: in the data directory, or in a private directory below the system's temporary
// one when that path would be too long. The pointer file is how tools find the latter.
func (s *socket) place(dir string) (string, error) {
	pointer := filepath.Join(dir, pointerName)
	if old, err := os.ReadFile(pointer); err == nil { // of a dead process; what cannot be removed does no harm
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

// removeSocket removes what a dead process has left, but never a file that is not a socket.
func removeSocket(path string) error {
	at, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case at.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is in the way and is not a socket", path)
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
	s.unlock()
}

// liveSocket finds the socket of the process that runs with a data directory.
func liveSocket(dir string) (string, error) {
	path := filepath.Join(dir, socketName)
	if other, err := os.ReadFile(filepath.Join(dir, pointerName)); err == nil {
		path = strings.TrimSpace(string(other))
	}
	c, err := net.DialTimeout("unix", path, dialTimeout) //nolint:noctx // a socket of this machine answers at once
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	_ = c.Close()
	return path, nil
}
