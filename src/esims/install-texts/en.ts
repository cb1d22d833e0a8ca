import type { InstallTexts } from './texts.ts';

export const en: InstallTexts = {
  name: 'English',
  direction: 'ltr',
  locale: 'en-GB',
  chooseLanguage: 'Language',
  ready: {
    title: 'Install your eSIM',
    text: 'Install it on the phone that you travel with, best before you leave. Stay on Wi-Fi until it is done. It can be installed only once.',
  },
  installed: {
    title: 'Already installed on a device',
    text: 'This eSIM is on a device, so its code is no longer shown. To move it to another phone, ask where you bought it.',
  },
  notDelivered: {
    title: 'Your eSIM is being prepared',
    text: 'This page updates by itself. You may close it and come back.',
  },
  ended: {
    title: 'This eSIM cannot be installed',
    text: 'Ask where you bought it if you did not expect this.',
  },
  plan: {
    heading: 'Your plan',
    dataLeft: 'Data left',
    of: (left, total) => `${left} of ${total}`,
    installBy: 'Install by',
    firstUseBy: 'Use for the first time by',
    validFor: 'Valid from first use for',
    timeLeft: 'Time left',
    validUntil: 'Valid until',
    asOf: (age) => `As known ${age}. Usage may be up to three hours behind.`,
  },
  oneTap: {
    title: 'On this phone',
    text: 'Tap once and follow the phone.',
    iphone: 'Install on iPhone',
    iphoneNote: 'iOS 17.4 or later',
    android: 'Install on Android',
    androidNote: 'Recent Android phones',
  },
  qr: {
    title: 'With the camera',
    text: 'Open this page on another screen and scan the code with the phone.',
    label: 'QR code that installs the eSIM',
  },
  byHand: {
    title: 'By hand',
    text: 'If neither works, enter these where the phone asks for them.',
    smdpAddress: 'SM-DP+ address (iPhone)',
    matchingId: 'Activation code (iPhone)',
    activationCode: 'Activation code (Android)',
    apn: 'APN, only if the phone asks for it',
    copy: 'Copy',
    copied: 'Copied',
  },
  steps: {
    heading: 'Step by step',
    iphone: {
      title: 'iPhone',
      steps: [
        'Open Settings, then Mobile Service (or Cellular).',
        'Tap Add eSIM, then Use QR Code.',
        'Scan the code, or tap Enter Details Manually and enter both lines from above.',
        'Tap Continue and wait until the eSIM is activated. Name it, for example, Travel.',
        'When you arrive: choose the eSIM for Mobile Data and switch on Data Roaming for it.',
      ],
    },
    samsung: {
      title: 'Samsung Galaxy',
      steps: [
        'Open Settings, then Connections, then SIM manager.',
        'Tap Add eSIM, then Scan QR code.',
        'Scan the code, or tap Enter activation code and enter the code for Android.',
        'Tap Add and wait. Switch the eSIM on in SIM manager.',
        'When you arrive: choose the eSIM for mobile data, then switch on Data roaming under Mobile networks.',
      ],
    },
    pixel: {
      title: 'Google Pixel and other Android phones',
      steps: [
        'Open Settings, then Network & internet, then SIMs.',
        'Tap Add SIM, then Set up an eSIM.',
        'Scan the code, or tap Need help? and enter the code for Android by hand.',
        'Tap Download and wait. Switch on Use SIM.',
        'When you arrive: switch on Mobile data and Roaming for the eSIM.',
      ],
    },
  },
  help: {
    heading: 'If it does not work',
    causes: [
      {
        summary: 'The phone has no “Add eSIM”.',
        nextStep: 'It takes no eSIMs, or it is locked to an operator. Ask the shop that sold the phone.',
      },
      {
        summary: 'The installation stops.',
        nextStep: 'Connect to Wi-Fi, restart the phone and install it again on the same phone.',
      },
      {
        summary: 'The phone says that the code was used.',
        nextStep: 'Look in the list of SIMs: the eSIM may be there already, switched off.',
      },
      {
        summary: 'It is installed, but there is no internet.',
        nextStep:
          'Switch on data roaming for the eSIM and choose it for mobile data. Then switch flight mode on and off.',
      },
    ],
  },
  keepPrivate: 'Keep this page’s address to yourself: anyone who has it can install the eSIM.',
  askShop: 'Questions? Ask the shop',
  topUps: {
    title: 'Automatic top-up',
    text: 'When your data runs low, this eSIM is topped up automatically, up to the limit that you set. You can turn it off here at any time.',
    howMany: 'Top-ups at most',
    days: 'For how many days',
    turnOn: 'Turn on automatic top-up',
    turnOff: 'Turn off automatic top-up',
    isOn: (used, most) => `It is on: ${used} of at most ${most} top-ups used.`,
    until: (date) => `It ends on ${date}.`,
  },
  diagnosis: {
    NOT_DELIVERED: {
      summary: 'The eSIM is not delivered yet.',
      nextStep:
        'This usually takes less than a minute after the payment. If it takes longer, ask where you bought it.',
    },
    DELIVERY_FAILED: {
      summary: 'The eSIM was not delivered.',
      nextStep: 'Ask where you bought it; the payment is given back.',
    },
    NOT_SCANNED: {
      summary: 'The eSIM has not been installed yet.',
      nextStep: 'Open the install page on the phone and install it, on Wi-Fi.',
    },
    DOWNLOAD_INTERRUPTED: {
      summary: 'The download to the phone began and has not finished.',
      nextStep: 'Connect to Wi-Fi, restart the phone and install the eSIM again on the same phone.',
    },
    SWITCHED_OFF: {
      summary: 'The eSIM is installed and switched off.',
      nextStep: 'Switch it on in the phone’s SIM settings.',
    },
    NOT_CONNECTED: {
      summary: 'The eSIM is installed and switched on, but has not connected to a network yet.',
      nextStep: 'At the destination, switch on data roaming for it and choose it for mobile data.',
    },
    NO_USAGE_YET: {
      summary: 'The eSIM has connected, and no data use is known yet.',
      nextStep:
        'If there is no internet, switch on data roaming for the eSIM; otherwise there is nothing to do.',
    },
    ROAMING_LIKELY_OFF: {
      summary: 'The eSIM has connected, but uses no data: data roaming is probably off.',
      nextStep:
        'Switch on data roaming for the eSIM, choose it for mobile data, then switch flight mode on and off.',
    },
    WORKING: { summary: 'The eSIM works.', nextStep: 'There is nothing to do.' },
    USED_UP: {
      summary: 'All data of the eSIM is used up.',
      nextStep: 'Top it up where you bought it, or buy a new one.',
    },
    SUSPENDED: { summary: 'The eSIM is suspended.', nextStep: 'Ask where you bought it.' },
    DELETED: {
      summary: 'The eSIM was deleted from the phone and cannot be installed again.',
      nextStep: 'Buy a new one.',
    },
    EXPIRED: { summary: 'The eSIM has expired.', nextStep: 'Buy a new one.' },
    CANCELLED: { summary: 'The eSIM was cancelled.', nextStep: 'Ask where you bought it.' },
    RETURNED: {
      summary: 'The eSIM was returned.',
      nextStep: 'It cannot be installed any more. Ask where you bought it.',
    },
    REPLACED: {
      summary: 'The eSIM was replaced by a new one.',
      nextStep: 'Use the new eSIM. You have it from where you bought this one.',
    },
  },
  notFound: {
    title: 'There is no eSIM at this link',
    text: 'The link is incomplete, or it was replaced by a new one. Ask where you bought the eSIM for the current link.',
  },
  tooMany: { title: 'A moment, please', text: 'This page was opened too often. Open it again in a minute.' },
  unavailable: {
    title: 'Not available right now',
    text: 'Your eSIM is not lost. Open this page again in a minute.',
  },
  email: {
    subject: (item) => `Your eSIM: ${item}`,
    sent: (sender, item) => `${sender} has sent you an eSIM: ${item}.`,
    onBehalfOf: (us, name) => `${us}, on behalf of “${name}”,`,
    reference: (reference) => `Order: ${reference}`,
    open: 'Open this link on the phone that will use it, and follow the steps:',
    personal: 'The link is personal: do not share it.',
    stop: 'If you do not know the sender, or want no more such mail:',
    test: 'This is a test. The eSIM does not work.',
  },
};
