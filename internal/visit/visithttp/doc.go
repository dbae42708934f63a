// Package visithttp lets guests in and shows the staff who sits where.
package visithttp
