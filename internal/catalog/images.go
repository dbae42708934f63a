package catalog

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"comanda/internal/fault"
)

// Maximum widths, in pixels, of the two sizes in which an image is stored.
const (
	Thumb = 320
	Large = 960
)

// MaxImages limits the images of an installation; each is two small files.
const MaxImages = 5000

// UnusedImageTTL is how long an image is kept that neither a dish nor the brand uses. It leaves time to upload an
// image first and put it on a dish later.
const UnusedImageTTL = 24 * time.Hour

// ErrTooManyImages refuses an image beyond MaxImages.
var ErrTooManyImages = fault.Newf(fault.Conflict, "image_limit", "At most %d images can be stored.", MaxImages)

// Image is one image in its sizes, as it is served. Its id is a hash of both sizes, so the same image has the same id.
type Image struct {
	ID    string
	Sizes map[int][]byte // JPEG by width; some of a brand are PNG
}

var imageIDPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ValidImageID reports whether id has the form of an image id.
func ValidImageID(id string) bool { return imageIDPattern.MatchString(id) }

// ImageURL returns the URL of an image in its large size, or an empty string for an empty id.
func ImageURL(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("/media/%s-%d.jpg", id, Large)
}

// ImageIDOf returns the id of the image that a URL made by ImageURL shows, or an empty string for any other URL.
func ImageIDOf(url string) string {
	id, ok := strings.CutSuffix(strings.TrimPrefix(url, "/media/"), "-"+strconv.Itoa(Large)+".jpg")
	if !ok || !ValidImageID(id) {
		return ""
	}
	return id
}

// ImageStore stores images; catalogsql implements it.
type ImageStore interface {
	// AddImage stores an image unless it exists, and deletes images that neither a dish nor the brand shows and that were
	// last used before the given instant.
	AddImage(ctx context.Context, p Image, now, before time.Time) error
}

// Images accepts images of dishes.
type Images struct {
	Store  ImageStore
	Resize func(ctx context.Context, raw []byte) (Image, error) // returns a fault if raw is no image
	Now    func() time.Time
}

// Add resizes and stores an image and returns its id.
func (i *Images) Add(ctx context.Context, raw []byte) (string, error) {
	p, err := i.Resize(ctx, raw)
	if err != nil {
		return "", err
	}
	// Each upload also deletes unused images, so no separate job is needed.
	now := i.Now()
	return p.ID, i.Store.AddImage(ctx, p, now, now.Add(-UnusedImageTTL))
}
