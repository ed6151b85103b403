//===- Export.h - what the shared library shows to others ---------------------===//
#ifndef DLC_EXPORT_H
#define DLC_EXPORT_H

/// The library is built with hidden visibility; only what carries this mark can be linked to.
#define DLC_EXPORT __attribute__((visibility("default")))

#endif // DLC_EXPORT_H
