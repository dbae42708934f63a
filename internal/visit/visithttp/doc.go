// Package visithttp has the routes by which guests join a visit and the staff manage tables and visits.
package visithttp
