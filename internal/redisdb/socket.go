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
	pointerName = "redis.path" // contains the socket's path if it is outside the data directory
	lockName    = "redis.lock"

	// The kernel's limit on a socket's path is 104 bytes on macOS and 108 on Linux, with the final zero.
	maxSocketPath = 100
)

// socket is the embedded store's listener in the data directory, accessible to this user only. The lock comes before
// the socket file and is released after it, so two processes never replace each other's socket.
type socket struct {
	listener net.Listener
	unlock   func()
	extra    []string // further paths that release removes
}

// claimSocket locks the data directory for this process and listens in it. It replaces a socket left by a dead process.
// The kernel releases the lock when its process ends, so a held lock means a live process.
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

// place returns the path of the socket: in the data directory, or in a private temporary directory if that path would
// be too long. Tools find the latter through the pointer file.
func (s *socket) place(dir string) (string, error) {
	pointer := filepath.Join(dir, pointerName)
	if old, err := os.ReadFile(pointer); err == nil { // of a dead process; leftovers do no harm
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
	s.unlock()
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
